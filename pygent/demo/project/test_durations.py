"""What `human` promises."""

import unittest

from durations import human


class Human(unittest.TestCase):
    def test_seconds(self):
        self.assertEqual(human(9), "9s")

    def test_minutes(self):
        self.assertEqual(human(250), "4m 10s")

    def test_an_hour(self):
        self.assertEqual(human(3600), "1h 00m")

    def test_more_than_an_hour(self):
        self.assertEqual(human(3900), "1h 05m")
