"""What a bias found by a test may mean in use, and what to do next."""

from __future__ import annotations

from gendalens.words import N_

BY_OCCUPATION = N_(
    "See in the chart of occupations which of them lean most, and read the examples."
)
MITIGATION_LM = N_(
    "Mitigation of language models is described by Meade et al. 2022 (ACL, doi "
    "10.18653/v1/2022.acl-long.132; five techniques tried, which often made the model worse at "
    "language) and Sun et al. 2019 (ACL, doi 10.18653/v1/P19-1159; a review), both for English."
)
MITIGATION_COREF = N_(
    "Mitigation of coreference systems is described by Zhao et al. 2018 (NAACL, doi "
    "10.18653/v1/N18-2003; training on sentences with swapped genders, together with debiased word "
    "embeddings) and Sun et al. 2019 (ACL, doi 10.18653/v1/P19-1159; a review), both for English."
)
MITIGATION_NER = N_(
    "We know of no method that has been shown to remove such a bias in Danish. Sun et al. 2019 (ACL, "
    "doi 10.18653/v1/P19-1159; for English) review mitigation in general; Enevoldsen et al. 2021 "
    "(DaCy, arXiv 2107.05295) test Danish models on exchanged names."
)
