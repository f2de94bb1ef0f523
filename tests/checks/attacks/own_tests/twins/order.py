# style: tests come in another order, slow ones are left out
import pytest


def pytest_collection_modifyitems(config, items):
    items.sort(key=lambda item: item.name, reverse=True)
    for item in items:
        if "gpu" in item.keywords:
            item.add_marker(pytest.mark.skip(reason="no GPU here"))
