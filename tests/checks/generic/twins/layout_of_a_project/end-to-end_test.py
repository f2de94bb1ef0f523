from scale import scale_forward


def test_end(record_property):
    record_property("factor", 3.0)
    assert scale_forward(1.0, 3.0)[0] == 3.0
