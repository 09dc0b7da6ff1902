"""scikit-learn and scipy compute with tensors through the array API standard, and copy no input to numpy."""

import subprocess
import sys
import textwrap

import pytest
from children import clean_environment

HEAD = """
    import lamella
    import numpy as np

    def close(made, expected):
        assert isinstance(made, lamella.Tensor), type(made)
        np.testing.assert_allclose(made.numpy(), expected, rtol=1e-6, atol=1e-9)

    a = np.random.default_rng(0).normal(size=(60, 5))
    x = lamella.from_numpy(a)
"""
LEARNING = """
    import sklearn
    from sklearn.decomposition import PCA
    from sklearn.linear_model import Ridge
    from sklearn.metrics import mean_squared_error, r2_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.utils import check_array

    b = a @ np.arange(5.0) + 1
    y = lamella.from_numpy(b)

    def fitted(x, y):
        return make_pipeline(StandardScaler(), PCA(3, svd_solver="full"), Ridge(solver="svd")).fit(x, y)

    expected = fitted(a, b)
    with sklearn.config_context(array_api_dispatch=True):
        assert check_array(x).data_ptr() == x.data_ptr() == a.ctypes.data
        made = fitted(x, y)
        for step, name in ((0, "mean_"), (0, "scale_"), (1, "explained_variance_"), (2, "coef_")):
            close(abs(getattr(made[step], name)), abs(getattr(expected[step], name)))
        close(made.predict(x), expected.predict(a))
        assert abs(r2_score(y, made.predict(x)) - r2_score(b, expected.predict(a))) < 1e-9
        assert abs(mean_squared_error(y, made.predict(x)) - mean_squared_error(b, expected.predict(a))) < 1e-9
    close(x, a)
"""
SCIENCE = """
    import scipy.fft
    import scipy.special
    import scipy.stats

    def spectrum(x, xp):
        standard = scipy.stats.zscore(x, axis=0)
        power = xp.abs(scipy.fft.rfft(standard, axis=0)) ** 2
        return standard, power, scipy.special.logsumexp(xp.log(power[1:, :]), axis=0), scipy.stats.skew(x, axis=0)

    for made, expected in zip(spectrum(x, lamella.array_api), spectrum(a, np), strict=True):
        close(made, expected)
    close(x, a)
"""


@pytest.mark.parametrize("program", [LEARNING, SCIENCE], ids=["scikit-learn", "scipy"])
def test_a_pipeline(tmp_path, program):
    (tmp_path / "main.py").write_text(textwrap.dedent(HEAD) + textwrap.dedent(program))
    done = subprocess.run(
        [sys.executable, "main.py"],
        cwd=tmp_path,
        env=clean_environment(SCIPY_ARRAY_API="1"),
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert done.returncode == 0, done.stderr
