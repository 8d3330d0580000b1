from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gaitway.core.errors import GaitwayError
from gaitway.render import Camera

SIZE = (320, 180)
ANGLES = st.floats(-np.pi, np.pi)
CLOUDS = st.lists(st.tuples(*[st.floats(-20, 20)] * 3), min_size=1, max_size=12).map(np.array)


@settings(deadline=None)
@given(ANGLES, st.floats(-1.5, 1.5), st.booleans())
def test_target_is_the_middle_and_axes_are_orthonormal(azimuth, elevation, flat):
    camera = Camera.around([1.0, -2.0, 3.0], azimuth=azimuth, elevation=elevation, span=2.0 if flat else None)
    x, y, depth = camera.project([1.0, -2.0, 3.0], SIZE)
    np.testing.assert_allclose([x, y, depth], [160.0, 90.0, 5.0], atol=1e-9)
    np.testing.assert_allclose(camera.axes @ camera.axes.T, np.eye(3), atol=1e-12)
    assert np.linalg.det(np.stack([camera.axes[0], camera.axes[1], -camera.axes[2]])) == pytest.approx(1.0)


@pytest.mark.parametrize("span", [None, 4.0])
def test_what_is_higher_or_farther_to_the_right_is_so_in_the_picture(span):
    """From the south, east is on the right; rows of a picture count downwards."""
    camera = Camera.around(np.zeros(3), azimuth=-0.5 * np.pi, elevation=0.2, span=span)
    middle, above, east, north = camera.project([[0, 0, 0], [0, 0, 1], [1, 0, 0], [0, 1, 0]], SIZE)
    assert above[1] < middle[1] - 10.0 and abs(above[0] - middle[0]) < 1e-9
    assert east[0] > middle[0] + 10.0 and abs(east[1] - middle[1]) < 1e-9
    assert north[1] < middle[1] and north[2] > middle[2]


@settings(deadline=None)
@given(CLOUDS, ANGLES, st.floats(-1.4, 1.4), st.booleans())
def test_fit_sees_every_point(cloud, azimuth, elevation, flat):
    camera = Camera.around(np.zeros(3), azimuth=azimuth, elevation=elevation, span=1.0 if flat else None)
    fitted = camera.fit(cloud, SIZE, margin=0.1)
    seen = fitted.project(cloud, SIZE)
    tight = 1e-6 * (1.0 + np.abs(cloud).max())
    assert (seen[:, 0] >= 32.0 - tight - 1e-3).all() and (seen[:, 0] <= 288.0 + tight + 1e-3).all()
    assert (seen[:, 1] >= 18.0 - tight - 1e-3).all() and (seen[:, 1] <= 162.0 + tight + 1e-3).all()
    assert (seen[:, 2] > 0.0).all()
    np.testing.assert_allclose(fitted.axes, camera.axes, atol=1e-9)


def test_fit_fills_the_picture():
    cloud = np.array([[0.0, -1.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    for span in (None, 1.0):
        seen = (
            Camera.around(np.zeros(3), azimuth=0.0, elevation=0.0, span=span).fit(cloud, SIZE, 0.0).project(cloud, SIZE)
        )
        assert np.ptp(seen[:, 0]) == pytest.approx(320.0, rel=1e-6)


def test_orthographic_scale_is_pixels_a_metre():
    camera = Camera.around(np.zeros(3), azimuth=-0.5 * np.pi, elevation=0.0, span=2.0)
    near, far = camera.project([[0.5, 0.0, 0.0], [0.5, 3.0, 0.0]], SIZE)
    assert near[0] == far[0] == pytest.approx(160.0 + 45.0)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Camera(eye=np.zeros(3), target=np.zeros(3), up=np.array([0, 0, 1.0])), "same point"),
        (lambda: Camera(eye=np.zeros(3), target=np.array([0, 0, 1.0]), up=np.array([0, 0, 1.0])), "up direction"),
        (lambda: Camera.around(np.zeros(3), span=0.0), "above 0"),
        (lambda: Camera.around(np.zeros(3), field=4.0), "between"),
        (lambda: Camera.around([np.nan, 0, 0]), "not finite"),
        (lambda: Camera.around(np.zeros(3)).fit(np.empty((0, 3)), SIZE), "nothing to fit"),
        (lambda: Camera.around(np.zeros(3)).fit(np.zeros((1, 3)), SIZE, margin=0.5), "margin"),
    ],
)
def test_refuses(make, words):
    with pytest.raises(GaitwayError, match=words):
        make()
