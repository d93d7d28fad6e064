"""The names of places and organisations in the training text of ``demo-ner``, and their patterns."""

from __future__ import annotations

TOWNS = (
    "København", "Aarhus", "Odense", "Aalborg", "Esbjerg", "Randers", "Kolding", "Horsens",
    "Vejle", "Roskilde", "Herning", "Silkeborg", "Næstved", "Fredericia", "Viborg", "Køge",
    "Holstebro", "Slagelse", "Svendborg", "Sønderborg", "Hjørring", "Holbæk", "Nykøbing",
    "Frederikshavn", "Ringsted", "Haderslev", "Skive", "Nyborg", "Ikast", "Korsør", "Aabenraa",
    "Nakskov", "Grenaa", "Varde", "Kalundborg", "Thisted", "Ribe", "Brønderslev", "Middelfart",
    "Vordingborg", "Faaborg", "Hobro", "Lemvig", "Struer", "Rønne", "Skagen", "Odder", "Assens",
    "Bogense", "Tønder", "Sorø", "Maribo", "Stege", "Præstø", "Ebeltoft", "Juelsminde", "Løgstør",
    "Farsø", "Hadsund",
)  # fmt: skip
REGIONS = (
    "Danmark", "Sverige", "Norge", "Tyskland", "England", "Frankrig", "Spanien", "Italien",
    "Polen", "Kina", "Japan", "Indien", "Canada", "Finland", "Island", "Grønland", "Færøerne",
    "Holland", "Belgien", "Irland", "Portugal", "Grækenland", "Tyrkiet", "Egypten", "Brasilien",
    "Jylland", "Fyn", "Sjælland", "Lolland", "Falster", "Bornholm", "Samsø", "Læsø", "Ærø",
    "Langeland", "Møn", "Als", "Fanø", "Amager", "Djursland", "Europa", "Afrika", "Asien",
    "Skandinavien", "Norden", "Vendsyssel", "Thy", "Himmerland", "Nordsøen", "Østersøen",
    "Kattegat", "London", "Paris", "Berlin", "Rom", "Madrid", "Oslo", "Stockholm", "Helsinki",
    "Wien", "Prag", "Athen", "Lissabon", "Dublin", "Hamborg", "Bruxelles", "Amsterdam", "Moskva",
    "Kairo", "Tokyo", "Beijing", "Malmø", "Göteborg", "Bergen", "Reykjavik", "Nuuk", "Tórshavn",
)  # fmt: skip
#: Words that turn a name into a place, and words that turn one into an organisation.
WATERS = ("Sø", "Å", "Havn", "Torv", "Station", "Strand", "Skov", "Fjord", "Bakke", "Plads", "Bro")
ROADS = ("gade", "vej", "gården", "parken", "torvet", "broen", "skoven", "lund", "stræde", "bugten")
STEMS = ("Nørre", "Sønder", "Vester", "Øster", "Skov", "Kirke", "Strand", "Mølle", "Havne", "Bakke")
BODIES = (
    "Kommune", "Universitet", "Bibliotek", "Museum", "Teater", "Sygehus", "Skole", "Boldklub",
    "Gymnasium", "Avis", "Forsyning", "Musikskole", "Svømmeklub", "Brandvæsen", "Byråd",
    "Lystbådehavn",
)  # fmt: skip
FIRMS = (
    "Danske Bank", "Novo Nordisk", "DSB", "DR", "TV 2", "Mærsk", "Arla", "Lego", "Vestas", "Coop",
    "Politiken", "Berlingske", "Ritzau", "FN", "EU", "NATO", "Venstre", "Enhedslisten",
    "Dansk Folkeparti", "Socialdemokratiet", "Folketinget", "Røde Kors", "Kræftens Bekæmpelse",
    "Dansk Industri", "Grundfos", "Brøndby", "Google", "Apple", "Microsoft", "Volvo", "IKEA",
    "Netto", "Bilka", "Matas", "Nordea", "Danfoss", "Falck", "Aller", "Gyldendal",
    "Landbrug & Fødevarer", "Rigshospitalet", "Højesteret",
)  # fmt: skip
CLUBS = (
    "FC {town}", "{town} IF", "Foreningen {stem}lund", "Fonden {stem}lyset", "Hotel {stem}gård",
    "Restaurant {stem}bo", "Forlaget {stem}vang", "Grundejerforeningen {stem}parken",
    "Café {town}", "Børnehaven {stem}huset", "Beboerforeningen {stem}bakken",
    "Andelsselskabet {stem}høj",
)  # fmt: skip

#: News, letters, minutes and everyday talk: {p} a person, {l} a place, {o} an organisation.
SENTENCES = (
    "{p} bor i {l}.", "{p} kommer fra {l}.", "{p} er født i {l} i {n}.", "{p} arbejder for {o}.",
    "{p} er ny direktør for {o}.", "{p} fra {o} er glad for aftalen.",
    "{p} og {p} er rejst til {l}.", "{o} har ansat {p} som leder.", "{o} åbner en butik i {l}.",
    "{o} lukker for altid til {d}.", "I {l} blev det koldt i nat.",
    "I {l} mødte vi {p} på gaden.", "Vi skal besøge {p} på {d}.",
    "Vi tager toget til {l} i morgen.", "Jeg har lige talt med {p} i telefon.", "Kender du {p}?",
    "Kan du hilse {p} fra mig?", "Har du set {p}?", "Hvor er {p} henne?", "Kære {p}",
    "Kære {p}, tak for dit brev.", "Kære {p}, hvordan går det?", "Hilsen {p}",
    "Mange hilsner fra {p}", "Med venlig hilsen {p}, {o}.", "Til stede var {p}, {p} og {p}.",
    "Afbud fra {p} og {p}.", "Referent: {p}.", "Formand: {p}.", "{p} bød velkommen.",
    "{p} fremlagde regnskabet for {o}.", "{p} spurgte, om mødet kunne flyttes.",
    "{p} takkede {p} for arbejdet.", "{p} og {p} blev valgt.", "Formand {p} siger nej.",
    "Lærer {p} er syg i dag.", "Minister {p} rejser til {l}.",
    "Direktør {p} fra {o} er tilfreds.", "Borgmester {p} åbnede festen i {l}.",
    "Læge {p} har ferie.", "Ifølge {p} er det for dyrt.", "Ifølge {o} er priserne steget.",
    "Det siger {p} til {o}.", '"Det er dejligt", siger {p}.',
    '"Vi er kede af det", siger {p} fra {o}.', "{p}, som bor i {l}, vandt.",
    "{p} vandt over {p} i {l}.", "{o} vandt over {o} i søndags.", "{o} spiller mod {o} på {d}.",
    "Politiet i {l} leder efter en mand.", "Branden i {l} er slukket.",
    "Færgen til {l} er aflyst.", "Toget fra {l} er forsinket.", "Vejret i {l} er godt.",
    "Bussen mod {l} kører ikke på {d}.", "Min nabo {p} har købt en hund.",
    "Min søster {p} venter barn.", "Onkel {p} fylder {n} år.", "Moster {p} har bagt en kage.",
    "{p}s bil er gået i stykker.", "{p}s cykel er væk.", "{p}s nye bog handler om {l}.",
    "{p}s mor er fra {l}.", "{o}s kunder er vrede.", "{o}s nye chef er {p}.",
    "{l}s borgere er trætte af støjen.", "Det er {p}s fødselsdag på {d}.",
    "Vi skal til {p}s fest.", "Hverken {p} eller {p} vil med.", "Både {p} og {p} græd.",
    "{p}, {p} og {p} leger i haven.", "{p} har tabt en tand.", "{p} vil ikke sove.",
    "{p} har glemt sin taske hos {p}.", "{p}, der er mad!", "Forfatteren {p} læser op i {l}.",
    "Skuespilleren {p} er død, {n} år gammel.", "{p} ({n}) er savnet.",
    "Sangeren {p} optræder i {l} på {d}.", "Trods regnen kom {p} til {l}.",
    "Efter mødet gik {p} hjem.", "I går ringede {p} fra {l}.", "Så sagde {p}, at det var nok.",
    "Bagefter spiste vi hos {p}.", "Pakken er til {p}.", "Nøglen ligger hos {p}.",
    "Bogen er skrevet af {p}.", "Huset tilhører {p}.", "Mødet holdes på {l}.", "Vi bor på {l}.",
    "Der var kø ved {l}.", "Turen gik over {l} til {l}.", "Regningen fra {o} er betalt.",
    "Vi har fået brev fra {o}.", "Han er medlem af {o}.", "Hun læser på {o}.",
    "De mødtes på {o}.", "Sagen er anmeldt til {o}.", "{o} har {n} ansatte.",
)  # fmt: skip
#: Sentences without names, whose capitalised first word is not a name.
NAMELESS = (
    "Det regner.", "Jeg er træt i dag.", "Mødet sluttede klokken {n}.",
    "Prisen på mælk er steget.", "Kan vi flytte mødet til {d}?", "Husk at købe brød.",
    "Hunden gøede hele natten.", "Regeringen vil sænke skatten.",
    "Formanden takkede for et godt år.", "Kassereren var syg.", "Børnene sover.",
    "Vasketøjet hænger ude.", "Referatet blev godkendt.", "Tak for hjælpen!",
    "Bussen var forsinket igen.", "Skolen holder lukket på {d}.", "Lægen siger, at det går over.",
    "Naboen klipper hæk.", "Kagen er spist.", "Undskyld, at jeg kommer for sent.",
    "Glædelig jul!", "Sommeren blev våd.", "Direktøren er rejst.",
    "Ministeren afviser kritikken.", "Punkt {n}: Eventuelt.", "Økonomien er sund.",
    "Ingen havde bemærkninger.", "Der er {n} nye medlemmer.", "Hvad skal vi spise?",
    "Eleverne havde fri.", "Togene kører igen.", "Ordføreren ønskede ikke at svare.",
    "Vinden tager til.", "Strømmen gik klokken {n}.", "Politiet efterlyser vidner.",
    "Kommunen sparer.", "Endelig blev det forår.", "Opvaskeren er i stykker.",
    "Hvornår kommer du hjem?", "Flyet landede til tiden.", "Måske i morgen.",
)  # fmt: skip
DAYS = ("mandag", "tirsdag", "onsdag", "torsdag", "fredag", "lørdag", "søndag")
