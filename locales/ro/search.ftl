# Ce spun paginile de căutare, în română. Cheile sunt aceleași în fiecare limbă; un test le compară.

site-name = LohiSoft Căutare
language-name = Română
skip-to-content = Sari la conținut
search-label = Caută pe web după titluri și descrieri
search-button = Caută
search-hint = "mai multe cuvinte" împreună, -fără, site:exemplu.ro, lang:ro, intitle:cuvânt
home-title = LohiSoft Căutare
home-about = Găsește pagini web după titlu, descriere, subtitluri și felul în care le numesc alte site-uri. Fiecare rezultat duce direct la pagina însăși.
language-switch = Limba acestei pagini
footer-label = Despre această căutare
about-bot = Despre crawler
remove-site = Elimină site-ul meu
api-link = Interfața de căutare pentru programe

results-title = { $query } – LohiSoft Căutare
results-heading = Rezultate pentru { $query }
results-count = { $count ->
    [one] { $shown } pagină găsită
    [few] { $shown } pagini găsite
   *[other] { $shown } de pagini găsite
}
results-range = { $shown }, afișate de la { $first } la { $last }
results-list = Pagini găsite
only-from-site = Numai pagini de pe { $site }.
all-sites = Caută pe toate site-urile

did-you-mean = Ați vrut să scrieți
notes-heading = Ce nu a putut fi folosit din căutare
none-heading = Nicio pagină găsită pentru { $query }
none-advice-spelling = Verificați ortografia.
none-advice-fewer = Încercați mai puține cuvinte sau cuvinte mai obișnuite.
none-advice-operators = Renunțați la ghilimele, la semnele minus și la filtre precum site:.
none-advice-metadata = Se caută numai în titluri, descrieri și subtitluri, nu în texte întregi.
past-end-heading = Nu mai sunt rezultate pentru { $query }
past-end-text = Pe această pagină nu sunt rezultate.
first-page = Înapoi la prima pagină
empty-heading = Ce căutați?
empty-text = Scrieți unul sau mai multe cuvinte în câmpul de mai sus.
too-long-heading = Căutarea este prea lungă
too-long-text = O căutare poate avea cel mult { $limit } de octeți. Scurtați-o și încercați din nou.
bad-site-heading = Acesta nu este numele unui site
bad-site-text = Filtrul primește numele unui singur site, de exemplu exemplu.ro.
unavailable-heading = Căutarea nu este disponibilă acum
unavailable-starting = Indexul este în pregătire. Încercați din nou peste un minut; cuvintele au rămas în câmp.
unavailable-no-answer = Indexul nu a răspuns. Încercați din nou peste un minut; cuvintele au rămas în câmp.

paging-label = Pagini de rezultate
page-previous = Pagina anterioară
page-next = Pagina următoare
page-number = Pagina { $page }
last-reachable = Pot fi arătate numai primele { $limit } de rezultate. Adăugați un cuvânt pentru a restrânge căutarea.

seen = Văzută ultima dată la { $date }
more-from-site = { $count ->
    [one] încă { $shown } pagină de pe { $site }
    [few] încă { $shown } pagini de pe { $site }
   *[other] încă { $shown } de pagini de pe { $site }
}
why = De ce acest rezultat
why-fields = Cuvintele au fost găsite în:
field-title = titlu
field-description = descriere
field-headings = subtitluri
field-anchors = textul legăturilor către pagină
field-url-words = adresă
field-site = numele site-ului
why-links = { $count ->
    [one] { $shown } site are o legătură către această pagină.
    [few] { $shown } site-uri au legături către această pagină.
   *[other] { $shown } de site-uri au legături către această pagină.
}
why-links-named = Legături cu cuvintele căutate sunt pe:
date = { $day } { $month ->
    [1] ianuarie
    [2] februarie
    [3] martie
    [4] aprilie
    [5] mai
    [6] iunie
    [7] iulie
    [8] august
    [9] septembrie
    [10] octombrie
    [11] noiembrie
   *[12] decembrie
} { $year }
language-of-page = { $code ->
    [ar] arabă
    [bg] bulgară
    [cs] cehă
    [da] daneză
    [de] germană
    [el] greacă
    [en] engleză
    [es] spaniolă
    [et] estonă
    [fa] persană
    [fi] finlandeză
    [fr] franceză
    [he] ebraică
    [hr] croată
    [hu] maghiară
    [it] italiană
    [ja] japoneză
    [ko] coreeană
    [lt] lituaniană
    [lv] letonă
    [nb] norvegiană
    [nl] neerlandeză
    [nn] norvegiană
    [no] norvegiană
    [pl] poloneză
    [pt] portugheză
    [ro] română
    [ru] rusă
    [sk] slovacă
    [sl] slovenă
    [sr] sârbă
    [sv] suedeză
    [tr] turcă
    [uk] ucraineană
    [zh] chineză
   *[other] { $code }
}

problem-not-found-heading = Nu există această pagină
problem-not-found-text = Adresa poate fi scrisă greșit sau pagina nu mai există. Căutați de aici.
problem-method-not-allowed-heading = Această pagină poate fi numai citită
problem-method-not-allowed-text = Programul dumneavoastră a trimis ceva ce această pagină nu primește.
problem-internal-heading = Ceva nu a mers bine aici
problem-internal-text = Greșeala este a noastră. Încercați din nou peste un minut.
problem-too-many-requests-heading = Prea multe cereri
problem-too-many-requests-text = { $seconds ->
    [one] De la adresa dumneavoastră au venit multe căutări. Încercați din nou peste { $seconds } secundă.
    [few] De la adresa dumneavoastră au venit multe căutări. Încercați din nou peste { $seconds } secunde.
   *[other] De la adresa dumneavoastră au venit multe căutări. Încercați din nou peste { $seconds } de secunde.
}
problem-wrong-host-heading = Acest site are alt nume
problem-wrong-host-text = Cererea a fost pentru un nume de gazdă la care acest site nu răspunde. Operatorul stabilește numele prin web.hostnames.
problem-target-too-long-heading = Adresa este prea lungă
problem-target-too-long-text = Scurtați căutarea și încercați din nou.
problem-head-too-large-heading = Cererea este prea mare
problem-head-too-large-text = Programul dumneavoastră a trimis mai multe antete decât primește acest site.

opensearch-description = Caută pagini web după titlu, descriere, subtitluri și legături
