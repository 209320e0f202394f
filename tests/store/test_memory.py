"""The store in memory."""

from __future__ import annotations

import pytest

from pygent.store import MemoryStore, Store
from tests.contracts.contract_store import StoreContract


class TestMemoryStore(StoreContract):
    """`MemoryStore` keeps the contract."""

    @pytest.fixture
    def store(self) -> Store:
        return MemoryStore()
