from tests.support import numbers


class Test_Forward:
    pass


class TestNumbers:
    def test_count(self):
        assert len(numbers(5)) == 5

    def test_ends(self, subject=numbers(3)):
        assert subject[0] == -subject[-1] == -1.0
