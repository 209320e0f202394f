"""Tests of an agent, without a model and without a network: run this file, or `pytest` on it."""

import sys

import pytest

from pygent import Agent, Runtime
from pygent.testing import FakeSandbox, ScriptedModel, call


def fix(agent):
    """Do what this program is for: have the agent mend the tests of a project."""
    return agent.run("Run the tests, and fix what fails.", max_steps=5).content


def test_it_runs_the_tests_and_reports():
    """The agent runs what the model asks for, and its last words are the report."""
    sandbox = FakeSandbox([("pytest -q", "3 passed\n")])
    with (
        ScriptedModel([call("bash", cmd="pytest -q"), "All is well."]) as model,
        Agent(model=model, runtime=Runtime(sandbox=sandbox)) as agent,
    ):
        assert fix(agent) == "All is well."
    assert model.requests[-1][-1]["content"] == "$ pytest -q\n3 passed\n"


if __name__ == "__main__":
    sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", "-c", "/dev/null", __file__]))
