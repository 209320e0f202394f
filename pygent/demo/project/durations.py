"""Durations for people to read."""


def human(seconds: int) -> str:
    """Return a number of seconds as ``1h 05m``, ``4m 10s`` or ``9s``."""
    minutes, seconds = divmod(seconds, 60)
    if minutes > 60:
        hours, minutes = divmod(minutes, 60)
        return f"{hours}h {minutes:02}m"
    if minutes:
        return f"{minutes}m {seconds:02}s"
    return f"{seconds}s"
