"""Jobs done by a Dask cluster. Nothing else imports ``distributed`` (extra ``cluster``)."""
