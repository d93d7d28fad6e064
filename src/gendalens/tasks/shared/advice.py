"""What a bias found by a test may mean in use, and what to do next."""

from __future__ import annotations

from gendalens.words import N_

BY_OCCUPATION = N_(
    "See in the chart of occupations which of them lean most, and read the examples."
)
MITIGATION_LM = N_(
    "Mitigation of language models is described by Meade et al. 2022 (a survey of "
    "debiasing techniques and of what they cost) and Sun et al. 2019 (a review)."
)
MITIGATION_COREF = N_(
    "Mitigation of coreference systems is described by Zhao et al. 2018 (training on "
    "sentences with swapped genders) and Sun et al. 2019 (a review)."
)
MITIGATION_NER = N_(
    "Mitigation by training on sentences with exchanged names is described by Sun et "
    "al. 2019 (a review)."
)
