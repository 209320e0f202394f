"""What the suite promises to try and a machine may lack: one table, `table.ROWS`.

A test says `@pytest.mark.needs("tmux")`, or asks the fixture: `tmux = needs("tmux")`. Where the
row is lacking the test is skipped and the run ends with a table of what was not tried; under
`PYGENT_TEST_REQUIRE=all` (or a list: `tmux,git`) it fails instead.
"""
