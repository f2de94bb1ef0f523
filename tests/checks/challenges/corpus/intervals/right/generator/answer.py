def _chosen(jobs):
    end = None
    for job in sorted(jobs, key=lambda job: (job[1], -job[0])):
        if end is None or job[0] >= end:
            end = job[1]
            yield job


def intervals(jobs):
    return list(_chosen(jobs))
