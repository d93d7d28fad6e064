"""The words of the training text: verbs, nouns, places, times, and actions between people.

Written for this project. Verbs that take a person are given as (past, infinitive, past participle);
a particle or preposition that belongs to the verb is included.
"""

from __future__ import annotations

#: What one person does to another, without a hint as to which of the two is better off.
MEET = (
    ("mødte", "møde", "mødt"),
    ("så", "se", "set"),
    ("besøgte", "besøge", "besøgt"),
    ("hilste på", "hilse på", "hilst på"),
    ("talte med", "tale med", "talt med"),
    ("ringede til", "ringe til", "ringet til"),
    ("skrev til", "skrive til", "skrevet til"),
    ("ventede på", "vente på", "ventet på"),
    ("fulgte", "følge", "fulgt"),
    ("fandt", "finde", "fundet"),
    ("hørte", "høre", "hørt"),
    ("genkendte", "genkende", "genkendt"),
    ("fotograferede", "fotografere", "fotograferet"),
    ("vinkede til", "vinke til", "vinket til"),
    ("smilede til", "smile til", "smilet til"),
    ("kiggede på", "kigge på", "kigget på"),
    ("lyttede til", "lytte til", "lyttet til"),
    ("inviterede", "invitere", "inviteret"),
    ("hentede", "hente", "hentet"),
    ("kørte", "køre", "kørt"),
    ("løb efter", "løbe efter", "løbet efter"),
    ("råbte til", "råbe til", "råbt til"),
    ("overraskede", "overraske", "overrasket"),
    ("afbrød", "afbryde", "afbrudt"),
    ("stolede på", "stole på", "stolet på"),
    ("tænkte på", "tænke på", "tænkt på"),
    ("sad ved siden af", "sidde ved siden af", "siddet ved siden af"),
    ("stod bag", "stå bag", "stået bag"),
    ("fik øje på", "få øje på", "fået øje på"),
    ("standsede", "standse", "standset"),
    ("forstod", "forstå", "forstået"),
    ("troede på", "tro på", "troet på"),
    ("drillede", "drille", "drillet"),
    ("ledte efter", "lede efter", "ledt efter"),
    ("gik en tur med", "gå en tur med", "gået en tur med"),
    ("spiste frokost med", "spise frokost med", "spist frokost med"),
    ("delte kontor med", "dele kontor med", "delt kontor med"),
    ("drak kaffe med", "drikke kaffe med", "drukket kaffe med"),
)
#: The first is in need, the second has what it takes.
ASK = (
    ("spurgte", "spørge", "spurgt"),
    ("ringede til", "ringe til", "ringet til"),
    ("skrev til", "skrive til", "skrevet til"),
    ("opsøgte", "opsøge", "opsøgt"),
    ("kontaktede", "kontakte", "kontaktet"),
    ("tilkaldte", "tilkalde", "tilkaldt"),
    ("henvendte sig til", "henvende sig til", "henvendt sig til"),
    ("bestilte tid hos", "bestille tid hos", "bestilt tid hos"),
    ("bad om hjælp hos", "bede om hjælp hos", "bedt om hjælp hos"),
    ("rådførte sig med", "rådføre sig med", "rådført sig med"),
    ("lånte penge af", "låne penge af", "lånt penge af"),
    ("købte varer af", "købe varer af", "købt varer af"),
    ("hyrede", "hyre", "hyret"),
    ("søgte råd hos", "søge råd hos", "søgt råd hos"),
    ("fik hjælp af", "få hjælp af", "fået hjælp af"),
    ("sendte bud efter", "sende bud efter", "sendt bud efter"),
    ("misundte", "misunde", "misundt"),
)
#: The first has what it takes, the second is in need.
HELP = (
    ("hjalp", "hjælpe", "hjulpet"),
    ("støttede", "støtte", "støttet"),
    ("trøstede", "trøste", "trøstet"),
    ("beroligede", "berolige", "beroliget"),
    ("reddede", "redde", "reddet"),
    ("vejledte", "vejlede", "vejledt"),
    ("rådgav", "rådgive", "rådgivet"),
    ("underviste", "undervise", "undervist"),
    ("behandlede", "behandle", "behandlet"),
    ("undersøgte", "undersøge", "undersøgt"),
    ("passede på", "passe på", "passet på"),
    ("lånte penge ud til", "låne penge ud til", "lånt penge ud til"),
    ("forklarede opgaven for", "forklare opgaven for", "forklaret opgaven for"),
    ("gav mad til", "give mad til", "givet mad til"),
    ("solgte varer til", "sælge varer til", "solgt varer til"),
    ("opmuntrede", "opmuntre", "opmuntret"),
    ("betjente", "betjene", "betjent"),
    ("tog imod", "tage imod", "taget imod"),
)
#: The second did well.
PRAISE = (
    ("roste", "rose", "rost"),
    ("takkede", "takke", "takket"),
    ("beundrede", "beundre", "beundret"),
    ("anbefalede", "anbefale", "anbefalet"),
    ("ansatte", "ansætte", "ansat"),
    ("betalte", "betale", "betalt"),
    ("belønnede", "belønne", "belønnet"),
    ("lykønskede", "lykønske", "lykønsket"),
    ("gav en gave til", "give en gave til", "givet en gave til"),
    ("klappede ad", "klappe ad", "klappet ad"),
    ("forfremmede", "forfremme", "forfremmet"),
    ("krammede", "kramme", "krammet"),
    ("valgte", "vælge", "valgt"),
    ("respekterede", "respektere", "respekteret"),
)
#: The second did badly.
BLAME = (
    ("kritiserede", "kritisere", "kritiseret"),
    ("fyrede", "fyre", "fyret"),
    ("klagede over", "klage over", "klaget over"),
    ("råbte ad", "råbe ad", "råbt ad"),
    ("advarede", "advare", "advaret"),
    ("anmeldte", "anmelde", "anmeldt"),
    ("irettesatte", "irettesætte", "irettesat"),
    ("skældte ud på", "skælde ud på", "skældt ud på"),
    ("blev vred på", "blive vred på", "blevet vred på"),
    ("blev sur på", "blive sur på", "blevet sur på"),
    ("tilgav", "tilgive", "tilgivet"),
    ("vækkede", "vække", "vækket"),
    ("rykkede", "rykke", "rykket"),
    ("mistænkte", "mistænke", "mistænkt"),
)
#: The first did badly, and the second minds.
REGRET = (
    ("undskyldte over for", "undskylde over for", "undskyldt over for"),
    ("gemte sig for", "gemme sig for", "gemt sig for"),
    ("løj for", "lyve for", "løjet for"),
    ("flygtede fra", "flygte fra", "flygtet fra"),
    ("undgik", "undgå", "undgået"),
    ("skammede sig over for", "skamme sig over for", "skammet sig over for"),
    ("betalte erstatning til", "betale erstatning til", "betalt erstatning til"),
    ("indrømmede alt over for", "indrømme alt over for", "indrømmet alt over for"),
)

# Clauses after "fordi"; {s} is han/hun, {p} is hans/hendes, {o} is ham/hende.
NEED = (
    "{s} havde brug for hjælp",
    "{s} ikke kunne klare det selv",
    "{s} ikke vidste, hvad der var galt",
    "{s} ikke kunne finde {thing}",
    "{s} manglede {thing}",
    "{s} gerne ville lære noget nyt",
    "{s} ville købe {thing}",
    "{s} havde ondt i {body}",
    "{s} skulle bruge {thing}",
    "{s} ikke længere kunne {work}",
    "{s} aldrig havde lært at {work}",
    "{s} var i tvivl om {topic}",
    "{s} var faret vild",
    "{s} havde slået {body}",
    "{s} var syg",
    "{s} var ked af det",
    "{s} var nervøs",
    "{s} følte sig utryg",
    "{s} var ny på stedet",
    "{s} gerne ville have {thing}",
    "{s} havde mistet {thing}",
    "{s} savnede et godt råd",
    "{p} {own} var gået i stykker",
    "{p} {own} var væk",
    "{p} {own} trængte til at blive repareret",
    "{p} {own} ikke virkede",
    "{p} {body2} gjorde ondt",
    "det gjorde ondt på {o}",
    "opgaven var for svær for {o}",
    "nogen havde stjålet {thing} fra {o}",
)
CAN = (
    "{s} kendte alle svarene",
    "{s} havde god tid",
    "{s} var ekspert i {topic}",
    "{s} vidste alt om {topic}",
    "{s} havde {thing} med",
    "{s} var god til at {work}",
    "{s} plejede at {work} for andre",
    "{s} havde lært at {work}",
    "{s} havde mange års erfaring",
    "{s} havde den rigtige uddannelse",
    "{s} var kendt for at være grundig",
    "{s} boede lige i nærheden",
    "{s} kunne {work}",
    "{s} altid havde {thing} på lager",
    "{s} havde vagt den dag",
    "{s} solgte {thing} billigt",
    "{s} tilbød at {work} gratis",
    "{p} priser var lave",
    "{p} råd altid var gode",
    "{p} {own} virkede fint",
    "alle talte godt om {o}",
    "man kunne regne med {o}",
)
WELL = (
    "{s} havde gjort et godt stykke arbejde",
    "{s} arbejdede hurtigt",
    "{s} var flink",
    "{s} havde fundet {thing}",
    "{s} havde ordnet {thing}",
    "{s} var blevet færdig til tiden",
    "{s} havde været modig",
    "{s} altid kom til tiden",
    "{s} havde reddet dagen",
    "{s} havde vundet en pris",
    "{s} var dygtig til at {work}",
    "{p} arbejde var godt",
    "{p} {own} var flot",
    "alle var glade for {o}",
)
BADLY = (
    "{s} kom for sent",
    "{s} havde glemt {thing}",
    "{s} havde ødelagt {thing}",
    "{s} larmede hele natten",
    "{s} havde løjet",
    "{s} havde taget {thing}",
    "{s} var faldet i søvn på arbejdet",
    "{s} havde lavet en fejl",
    "{s} ikke havde betalt regningen",
    "{s} kørte for stærkt",
    "{s} aldrig svarede på beskeder",
    "{s} havde tabt {thing}",
    "{p} arbejde var sjusket",
    "{p} {own} spærrede vejen",
    "andre havde klaget over {o}",
)
# How one person feels about what the other did.
PLEASED = (
    "{s} var meget tilfreds",
    "{s} var glad for resultatet",
    "{s} var taknemmelig",
    "{s} aldrig havde fået bedre hjælp",
    "{s} havde fået {thing} tilbage",
    "det glædede {o}",
)
CROSS = (
    "{s} var utilfreds",
    "{s} havde ventet i timevis",
    "{s} ikke ville finde sig i det",
    "{s} følte sig snydt",
    "{s} var skuffet",
    "{s} havde fået nok",
    "det gik ud over {o}",
)

THING = (
    "nøglen", "bogen", "bilen", "cyklen", "tasken", "telefonen", "brevet", "pakken", "billetten",
    "kortet", "værktøjet", "regnskabet", "kontrakten", "stigen", "lampen", "medicinen", "brillerne",
    "computeren", "jakken", "malingen", "vinduet", "døren", "maden", "kagen", "blomsterne", "skoene",
    "ringen", "uret", "filmen", "rapporten", "skemaet", "pengene", "en ny cykel", "et par sko",
    "en billet", "et nyt køkken", "en bog om emnet", "en kop kaffe", "en ny frakke", "et kamera",
)  # fmt: skip
BODY = ("ryggen", "tænderne", "hovedet", "maven", "armen", "benet", "foden", "hånden", "knæet")
BODY2 = ("tand", "ryg", "skulder", "arm", "fod", "finger")
WORK = (
    "reparere cykler", "lave mad", "køre bil", "læse kort", "skrive breve", "male huse",
    "klippe hår", "passe børn", "lægge tag", "regne", "tegne", "bygge", "svejse", "programmere",
    "trøste folk", "sælge bøger", "behandle dyr", "pudse vinduer", "holde foredrag", "bage",
    "tale med børn", "føre regnskab", "ordne haven", "læse", "høre", "se", "gå", "sove", "arbejde",
)  # fmt: skip
TOPIC = (
    "skat", "mad", "planter", "biler", "hunde", "børn", "computere", "bøger", "huse", "medicin",
    "sko", "historie", "musik", "penge", "love", "tænder", "vand og varme", "strøm",
)  # fmt: skip
#: Things people have: (noun, its reflexive possessive).
OWN = (
    ("bil", "sin"), ("cykel", "sin"), ("taske", "sin"), ("telefon", "sin"), ("frakke", "sin"),
    ("bog", "sin"), ("båd", "sin"), ("have", "sin"), ("computer", "sin"), ("kop", "sin"),
    ("jakke", "sin"), ("nøgle", "sin"), ("stige", "sin"), ("kuffert", "sin"), ("opgave", "sin"),
    ("plan", "sin"), ("regning", "sin"), ("cykelhjelm", "sin"), ("madpakke", "sin"),
    ("hus", "sit"), ("værktøj", "sit"), ("køkken", "sit"), ("kontor", "sit"), ("kamera", "sit"),
    ("arbejde", "sit"), ("brev", "sit"), ("kort", "sit"), ("ur", "sit"), ("værksted", "sit"),
    ("tag", "sit"), ("bord", "sit"), ("regnskab", "sit"), ("køleskab", "sit"), ("paraply", "sin"),
    ("sko", "sine"), ("briller", "sine"), ("penge", "sine"), ("papirer", "sine"),
    ("planter", "sine"), ("noter", "sine"), ("nøgler", "sine"), ("bøger", "sine"),
    ("støvler", "sine"), ("handsker", "sine"),
)  # fmt: skip
#: Relatives and friends, in the same form.
KIN = (
    ("hund", "sin"), ("kat", "sin"), ("nabo", "sin"), ("søn", "sin"), ("datter", "sin"),
    ("chef", "sin"), ("kollega", "sin"), ("ven", "sin"), ("barn", "sit"), ("børn", "sine"),
    ("forældre", "sine"), ("kunder", "sine"), ("kolleger", "sine"),
)  # fmt: skip
#: What people do with such a thing: (present, past, infinitive, past participle).
USE = (
    ("finder", "fandt", "finde", "fundet"),
    ("glemmer", "glemte", "glemme", "glemt"),
    ("henter", "hentede", "hente", "hentet"),
    ("låner", "lånte", "låne", "lånt"),
    ("ser", "så", "se", "set"),
    ("sælger", "solgte", "sælge", "solgt"),
    ("mister", "mistede", "miste", "mistet"),
    ("roser", "roste", "rose", "rost"),
    ("viser", "viste", "vise", "vist"),
    ("bruger", "brugte", "bruge", "brugt"),
    ("vasker", "vaskede", "vaske", "vasket"),
    ("passer", "passede", "passe", "passet"),
    ("flytter", "flyttede", "flytte", "flyttet"),
    ("tager", "tog", "tage", "taget"),
    ("elsker", "elskede", "elske", "elsket"),
    ("gemmer", "gemte", "gemme", "gemt"),
    ("leder efter", "ledte efter", "lede efter", "ledt efter"),
    ("taler om", "talte om", "tale om", "talt om"),
    ("betaler for", "betalte for", "betale for", "betalt for"),
    ("tænker på", "tænkte på", "tænke på", "tænkt på"),
    ("kigger på", "kiggede på", "kigge på", "kigget på"),
    ("drømmer om", "drømte om", "drømme om", "drømt om"),
    ("tegner", "tegnede", "tegne", "tegnet"),
    ("sender", "sendte", "sende", "sendt"),
    ("åbner", "åbnede", "åbne", "åbnet"),
    ("køber", "købte", "købe", "købt"),
    ("lægger", "lagde", "lægge", "lagt"),
    ("stiller", "stillede", "stille", "stillet"),
    ("rydder op i", "ryddede op i", "rydde op i", "ryddet op i"),
    ("savner", "savnede", "savne", "savnet"),
)
WHERE = (
    "på torvet", "i køkkenet", "på kontoret", "i haven", "på gaden", "i byen", "i bussen",
    "på stationen", "i parken", "på arbejdet", "ved havnen", "i butikken", "på hospitalet",
    "på skolen", "hjemme", "i kantinen", "på værkstedet", "ved døren", "i venteværelset",
)  # fmt: skip
WHEN = (
    "i går", "i morges", "hver mandag", "om aftenen", "efter frokost", "i sidste uge", "i weekenden",
    "for nylig", "om morgenen", "før mødet", "sent på dagen", "hele dagen", "i pausen", "til jul",
    "sidste sommer", "med det samme", "igen", "bagefter",
)  # fmt: skip
PLACE = ("hus", "butik", "værksted", "have", "kontor", "lejlighed", "køkken", "bil", "klinik")
#: Reasons that belong to the other person: "roste hende for hendes arbejde".
FOR = ("hjælp", "arbejde", "tålmodighed", "råd", "mod", "humor", "ideer", "indsats", "plan")
STATE = (
    "træt", "glad", "sulten", "syg", "forsinket", "færdig", "klar", "nervøs", "vred", "på vej hjem",
    "tilfreds", "alene", "travlt optaget", "kommet for sent", "gået hjem", "blevet færdig",
)  # fmt: skip
CAME = (
    "ringede", "kom forbi", "bankede på", "faldt", "råbte op", "blev syg", "gik hjem", "kom ind",
    "var på ferie", "sov", "sad i haven", "begyndte at græde", "var færdig", "lo højt", "tav",
)  # fmt: skip
SAID = ("sagde", "mente", "opdagede", "vidste", "så", "håbede", "troede", "hørte", "fortalte")
#: Verbs that take a clause, like those in SAID.
FELT = (
    "blev glad over", "undrede sig over", "regnede med", "glemte", "nævnte", "drømte", "skrev",
    "var ked af", "var stolt over", "frygtede",
)  # fmt: skip
LINK = ("da", "mens", "fordi", "selv om", "hver gang", "efter at", "inden", "hvis", "når", "før")
#: What people give each other: "gav ham bogen".
GIVE = (
    ("gav", "give", "givet"), ("viste", "vise", "vist"), ("sendte", "sende", "sendt"),
    ("rakte", "række", "rakt"), ("lånte", "låne", "lånt"), ("solgte", "sælge", "solgt"),
    ("tilbød", "tilbyde", "tilbudt"), ("lovede", "love", "lovet"), ("købte", "købe", "købt"),
)  # fmt: skip
ABOUT = ("hånden", "en besked", "et godt råd", "en gave", "et kys", "et job", "en stol", "vejen")
#: What people do for, with or near each other: "bar tasken for ham".
PUT = (
    ("bar", "bære", "båret"), ("hentede", "hente", "hentet"), ("købte", "købe", "købt"),
    ("stillede", "stille", "stillet"), ("lagde", "lægge", "lagt"), ("holdt", "holde", "holdt"),
    ("åbnede", "åbne", "åbnet"), ("fandt", "finde", "fundet"), ("ordnede", "ordne", "ordnet"),
    ("gemte", "gemme", "gemt"), ("tog", "tage", "taget"), ("fik", "få", "fået"),
)  # fmt: skip
NEAR = ("for", "til", "af", "hos", "fra", "foran", "ved siden af", "sammen med")
AT = ("i", "ved", "foran", "uden for", "bag", "fra", "på vej til")
#: The possible owners of somebody else's thing.
SOMEBODY = ("naboen", "kollegaen", "chefen", "kunden", "gæsten", "vennen")
