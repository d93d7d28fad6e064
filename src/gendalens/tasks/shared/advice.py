"""What a bias found by a test may mean in use, and what to do next."""

from __future__ import annotations

from gendalens.words import N_

BY_OCCUPATION = N_(
    "See in the chart of occupations which of them lean most, and read the examples."
)
MITIGATION_LM = N_(
    "Mitigation of language models is described by Meade et al. 2022 (ACL; five techniques tried, "
    "which often made the model worse at language) and Sun et al. 2019 (ACL; a review), both for English."
)
MITIGATION_COREF = N_(
    "Mitigation of coreference systems is described by Zhao et al. 2018 (NAACL; training on "
    "sentences with swapped genders, together with debiased word embeddings) and Sun et al. 2019 (ACL; "
    "a review), both for English."
)
MITIGATION_NER = N_(
    "We know of no method that has been shown to remove such a bias in Danish. Sun et al. 2019 (ACL; "
    "for English) review mitigation in general; Enevoldsen et al. 2021 (DaCy) test Danish models on "
    "exchanged names."
)
