# What the search pages say, in English. The keys are the same in every language; a test compares them.

site-name = LohiSoft Search
language-name = English
skip-to-content = Skip to the content
search-label = Search the web by its titles and descriptions
search-button = Search
search-hint = "several words" together, -without, site:example.org, lang:en, intitle:word
home-title = LohiSoft Search
home-about = Finds web pages by title, description, headings and what other sites call them. Each result leads straight to the page itself.
language-switch = Language of this page
footer-label = About this search
about-bot = About the crawler
remove-site = Remove my site
api-link = Search interface for programs

results-title = { $query } – LohiSoft Search
results-heading = Results for { $query }
results-count = { $count ->
    [one] { $shown } page found
   *[other] { $shown } pages found
}
results-range = { $shown }, showing { $first } to { $last }
results-list = Pages found
only-from-site = Only pages from { $site }.
all-sites = Search all sites

did-you-mean = Did you mean
notes-heading = What could not be used in your search
none-heading = No page found for { $query }
none-advice-spelling = Check the spelling.
none-advice-fewer = Try fewer or more common words.
none-advice-operators = Leave out quotation marks, minus signs and filters such as site:.
none-advice-metadata = Only titles, descriptions and headings are searched, not whole texts.
past-end-heading = No more results for { $query }
past-end-text = There are no results on this page.
first-page = Back to the first page
empty-heading = What are you looking for?
empty-text = Type one or more words into the field above.
too-long-heading = That search is too long
too-long-text = A search may have { $limit } bytes at most. Shorten it and try again.
bad-site-heading = That is no name of a site
bad-site-text = The filter takes the name of one site, such as example.org.
unavailable-heading = Search is not available just now
unavailable-starting = The index is being prepared. Try again in a minute; your words are still in the field.
unavailable-no-answer = The index did not answer. Try again in a minute; your words are still in the field.

paging-label = Pages of results
page-previous = Previous page
page-next = Next page
page-number = Page { $page }
last-reachable = Only the first { $limit } results can be shown. Add a word to narrow the search.

seen = Last seen on { $date }
more-from-site = { $count ->
    [one] { $shown } more page from { $site }
   *[other] { $shown } more pages from { $site }
}
why = Why this result
why-fields = Your words were found in:
field-title = the title
field-description = the description
field-headings = the headings
field-anchors = the text of links to it
field-url-words = the address
field-site = the name of the site
why-links = { $count ->
    [one] { $shown } site links to this page.
   *[other] { $shown } sites link to this page.
}
why-links-named = Links with your words stand on:
date = { $day } { $month ->
    [1] January
    [2] February
    [3] March
    [4] April
    [5] May
    [6] June
    [7] July
    [8] August
    [9] September
    [10] October
    [11] November
   *[12] December
} { $year }
language-of-page = { $code ->
    [ar] Arabic
    [bg] Bulgarian
    [cs] Czech
    [da] Danish
    [de] German
    [el] Greek
    [en] English
    [es] Spanish
    [et] Estonian
    [fa] Persian
    [fi] Finnish
    [fr] French
    [he] Hebrew
    [hr] Croatian
    [hu] Hungarian
    [it] Italian
    [ja] Japanese
    [ko] Korean
    [lt] Lithuanian
    [lv] Latvian
    [nb] Norwegian
    [nl] Dutch
    [nn] Norwegian
    [no] Norwegian
    [pl] Polish
    [pt] Portuguese
    [ro] Romanian
    [ru] Russian
    [sk] Slovak
    [sl] Slovene
    [sr] Serbian
    [sv] Swedish
    [tr] Turkish
    [uk] Ukrainian
    [zh] Chinese
   *[other] { $code }
}

problem-not-found-heading = There is no such page
problem-not-found-text = The address may be misspelt, or the page may be gone. Search from here instead.
problem-method-not-allowed-heading = This page can only be read
problem-method-not-allowed-text = Your program sent something that this page does not take.
problem-internal-heading = Something went wrong here
problem-internal-text = The fault is on our side. Try again in a minute.
problem-too-many-requests-heading = Too many requests
problem-too-many-requests-text = { $seconds ->
    [one] Many searches came from your address. Try again in { $seconds } second.
   *[other] Many searches came from your address. Try again in { $seconds } seconds.
}
problem-wrong-host-heading = This site has another name
problem-wrong-host-text = The request was for a host name that this site does not answer to. Its operator sets the names by web.hostnames.
problem-target-too-long-heading = That address is too long
problem-target-too-long-text = Shorten the search and try again.
problem-head-too-large-heading = The request is too large
problem-head-too-large-text = Your program sent more header lines than this site takes.

opensearch-description = Search web pages by title, description, headings and links
