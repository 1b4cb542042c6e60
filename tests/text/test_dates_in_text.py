"""Which dates are read in running text: tables of cases, and what is true of any text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiwiresearch.text.dates.mentions import DateMention, dates_in

READ = [
    # days
    ("It began on 5 June 1944.", "5 June 1944", "1944-06-05"),
    ("It began on June 5, 1944.", "June 5, 1944", "1944-06-05"),
    ("It began on June 5 1944 at dawn.", "June 5 1944", "1944-06-05"),
    ("On the 5th of June 1944 it began.", "5th of June 1944", "1944-06-05"),
    ("On the 6th of February, 1778, they met.", "6th of February, 1778", "1778-02-06"),
    ("On March 1st, 2005, it opened.", "March 1st, 2005", "2005-03-01"),
    ("Modified 1819-05-24 by hand.", "1819-05-24", "1819-05-24"),
    ("He was born 24 May 1819.", "24 May 1819", "1819-05-24"),
    ("Filed on 17-Jan-1992 there.", "17-Jan-1992", "1992-01-17"),
    ("It burned on 3 Sept. 1900.", "3 Sept. 1900", "1900-09-03"),
    ("Signed 1 January 1700 (Old Style) there.", "1 January 1700 (Old Style)", "1700-01-01"),
    ("Signed 8 October [O.S. 27 September] 1800.", "8 October [O.S. 27 September] 1800", "1800-10-08"),
    ("Baptised 11 February 1731/2 there.", "11 February 1731/2", "1732-02-11"),
    ("Baptised 24 March 1731/32 there.", "24 March 1731/32", "1732-03-24"),
    ("Baptised 25 March 1731/32 there.", "25 March 1731/32", "1731-03-25"),
    ("Baptised 10 November 1731/32 there.", "10 November 1731/32", "1731-11-10"),
    ("On 1 February 949 the planets met.", "1 February 949", "0949-02-01"),
    ("It fell on 24 August AD 79.", "24 August AD 79", "0079-08-24"),
    ("He fell on July 28 48 BC.", "July 28 48 BC", "-0047-07-28"),
    ("It began on December 31, 1 BC.", "December 31, 1 BC", "0000-12-31"),
    ("They left on 10 June 1944 with 300 men.", "10 June 1944", "1944-06-10"),
    # days that lend each other month and year
    ("It lasted from 5 June to 9 July 1944.", "from 5 June to 9 July 1944", "1944-06-05/1944-07-09"),
    ("It lasted 5–9 June 1944.", "5–9 June 1944", "1944-06-05/1944-06-09"),
    ("It lasted June 5 – July 9, 1944.", "June 5 – July 9, 1944", "1944-06-05/1944-07-09"),
    ("It lasted June 5–9, 1944.", "June 5–9, 1944", "1944-06-05/1944-06-09"),
    ("In the night of 5/6 June 1944 it began.", "5/6 June 1944", "1944-06-05/1944-06-06"),
    ("On 5 and 6 June 1944 it rained.", "5 and 6 June 1944", "1944-06-05/1944-06-06"),
    ("Ann (12 February 1809 – 19 April 1882) wrote.", "12 February 1809 – 19 April 1882", "1809-02-12/1882-04-19"),
    ("Between 5 June and 9 July 1944 it fell.", "Between 5 June and 9 July 1944", "[1944-06-05..1944-07-09]"),
    # months and seasons
    ("It began in June 1944.", "June 1944", "1944-06"),
    ("It began in June, 1944.", "June, 1944", "1944-06"),
    ("It began in June of 1944.", "June of 1944", "1944-06"),
    ("It ended in early June 1944.", "early June 1944", "[1944-06-01..1944-06-10]"),
    ("In June–July 1944 it rained.", "June–July 1944", "1944-06-01/1944-07-31"),
    ("It rained from July through September 1941.", "from July through September 1941", "1941-07-01/1941-09-30"),
    ("From May 1940 to June 1944 it stood.", "From May 1940 to June 1944", "1940-05-01/1944-06-30"),
    ("In spring 1943 it bloomed.", "spring 1943", "1943-21"),
    ("In the summer of 1943 it dried.", "summer of 1943", "1943-22"),
    ("In the fall of 1943 it rotted.", "fall of 1943", "1943-23"),
    ("In the winter of 1916–17 they starved.", "winter of 1916–17", "1916-24"),
    ("It closed in late 1953.", "late 1953", "[1953-08-01..1953-12-31]"),
    ("It closed in mid-1953.", "mid-1953", "[1953-04-01..1953-08-31]"),
    # years
    ("It began in 1944.", "1944", "1944"),
    ("In 1944 German troops left.", "1944", "1944"),
    ("In 1944 the troops left.", "1944", "1944"),
    ("In 1944 rioters left.", "1944", "1944"),
    ("The song (1944) was sung.", "1944", "1944"),
    ("Smith, 1944, p. 3", "1944", "1944"),
    ("Paris, 1944.", "1944", "1944"),
    ("It weighs little (Howell and Webb 1994).", "1994", "1994"),
    ("It weighs little (Sliwa 2004).", "2004", "2004"),
    ("1206 - The tribes unite.", "1206", "1206"),
    ("It is to be phased out by 2015.", "by 2015", "[..2015]"),
    ("The average temperatures from 1940 to 1980.", "from 1940 to 1980", "1940/1980"),
    ("The War of 1812 began.", "1812", "1812"),
    ("The 1966 World Cup was won.", "1966", "1966"),
    ("The 1755 earthquake was felt.", "1755", "1755"),
    ("The 1932 elections were held.", "1932", "1932"),
    ("His 1859 book sold out.", "1859", "1859"),
    ("Darwin's 1859 book sold out.", "1859", "1859"),
    ("A 1973 film with her.", "1973", "1973"),
    ("1929 saw the first of them.", "1929", "1929"),
    ("1912: The ship sinks.", "1912", "1912"),
    ("Records go back to 1703.", "1703", "1703"),
    ("Throughout 1970 they tried.", "1970", "1970"),
    ("In the year 2100 more people will come.", "2100", "2100"),
    ("It was dated 1752/3 by her.", "1752/3", "[1752..1753]"),
    ("It was made c. 1524/1529 in Aue.", "c. 1524/1529", "[1524~..1529~]"),
    ("Ann was born on 4 March 1525/ 1526 in Aue.", "4 March 1525/ 1526", "1526-03-04"),
    ("The 1998/99 season was short.", "1998/99", "[1998..1999]"),
    ("Population growth: 0.68% (2006 est.)", "2006", "2006"),
    ("Rome fell in 476.", "476", "0476"),
    ("In 476, Rome fell.", "476", "0476"),
    ("In 476 the last emperor fell.", "476", "0476"),
    ("In 476 AD Rome fell.", "476 AD", "0476"),
    # eras
    ("It fell in 1200 BC.", "1200 BC", "-1199"),
    ("It fell in 1200 BCE.", "1200 BCE", "-1199"),
    ("It fell in 1200 B.C. or so.", "1200 B.C.", "-1199"),
    ("It fell in AD 79.", "AD 79", "0079"),
    ("It fell in A.D. 79.", "A.D. 79", "0079"),
    ("It fell in 79 AD.", "79 AD", "0079"),
    ("It fell in 79 CE.", "79 CE", "0079"),
    ("Farming began in 10,000 BC.", "10,000 BC", "-9999"),
    ("Euclid (fl. 300 BC) wrote.", "300 BC", "-0299"),
    # ranges of years
    ("The war of 1914–1918 ended.", "1914–1918", "1914/1918"),
    ("The war (1914–18) ended.", "1914–18", "1914/1918"),
    ("The war of 1983-85 ended.", "1983-85", "1983/1985"),
    ("It lasted from 1914 to 1918.", "from 1914 to 1918", "1914/1918"),
    ("It lasted from 1990 until 1995.", "from 1990 until 1995", "1990/1995"),
    ("Anna (1853- 1936) wrote.", "1853- 1936", "1853/1936"),
    ("It fell between 1200 and 1150 BC.", "between 1200 and 1150 BC", "[-1199..-1149]"),
    ("It fell between the years 1404 and 1408.", "between the years 1404 and 1408", "[1404..1408]"),
    ("Aristotle (384–322 BC) wrote.", "384–322 BC", "-0383/-0321"),
    ("Ramesses (r. 1279–1213 BC) built.", "1279–1213 BC", "-1278/-1212"),
    ("Augustus (27 BC – AD 14) ruled.", "27 BC – AD 14", "-0026/0014"),
    ("He ruled from 27 BC to 14 AD.", "from 27 BC to 14 AD", "-0026/0014"),
    ("He worked 30–19 BC there.", "30–19 BC", "-0029/-0018"),
    ("Augustine (354–430) wrote.", "354–430", "0354/0430"),
    ("Constantine (r. 306–337) ruled.", "306–337", "0306/0337"),
    ("Vladimir (lived 958 - 1015) ruled.", "958 - 1015", "0958/1015"),
    ("He was mayor 1999–present.", "1999–present", "1999/.."),
    ("It stood from 1822 onward.", "1822 onward", "1822/.."),
    # qualifiers
    ("It was built c. 1250.", "c. 1250", "1250~"),
    ("It was built c.1250.", "c.1250", "1250~"),
    ("It was built (c. 1250) there.", "c. 1250", "1250~"),
    ("It was built ca. 1250.", "ca. 1250", "1250~"),
    ("It was built circa 1250.", "circa 1250", "1250~"),
    ("This circa 1900 painting shows it.", "circa 1900", "1900~"),
    ("It fell around 1200 BC.", "around 1200 BC", "-1199~"),
    ("It was built about 1200.", "about 1200", "1200~"),
    ("They arrived c. 982.", "c. 982", "0982~"),
    ("It lasted from c. 1200 to c. 1150 BC.", "from c. 1200 to c. 1150 BC", "-1199~/-1149~"),
    ("It was known by 1500.", "by 1500", "[..1500]"),
    ("It was known before 1500.", "before 1500", "[..1500]"),
    ("England prior to 1707 was one.", "prior to 1707", "[..1707]"),
    ("It grew after 1945.", "after 1945", "[1945..]"),
    ("It has grown since 1999.", "since 1999", "1999/.."),
    ("It stood until 1806.", "until 1806", "../1806"),
    ("It was known by the year 1500.", "by the year 1500", "[..1500]"),
    # decades, centuries, millennia
    ("In the 1920s it grew.", "1920s", "192X"),
    ("In the 1920's it grew.", "1920's", "192X"),
    ("In the late 1920s it grew.", "late 1920s", "[1926..1929]"),
    ("In the early '90s it grew.", "early '90s", "[1990..1993]"),
    ("It has grown since the 1960s.", "since the 1960s", "196X/.."),
    ("It grew from the 1960s to the early 1990s.", "from the 1960s to the early 1990s", "1960/1993"),
    ("In the 1800s it grew.", "1800s", "[1800..1899]"),
    ("In the 530s it shrank.", "530s", "[0530..0539]"),
    ("In the 20s BC it shrank.", "20s BC", "[-0028..-0019]"),
    ("In the 12th century it stood.", "12th century", "[1101..1200]"),
    ("In the twelfth century it stood.", "twelfth century", "[1101..1200]"),
    ("Twentieth century art sells.", "Twentieth century", "[1901..2000]"),
    ("A 19th-century novel.", "19th-century", "[1801..1900]"),
    ("A nineteenth-century novel.", "nineteenth-century", "[1801..1900]"),
    ("In the late 12th century BC it fell.", "late 12th century BC", "[-1133..-1100]"),
    ("In the early 12th century it rose.", "early 12th century", "[1101..1134]"),
    ("In the mid-12th century it stood.", "mid-12th century", "[1134..1167]"),
    ("In the first half of the 12th century it stood.", "the first half of the 12th century", "[1101..1150]"),
    ("At the turn of the 20th century it stood.", "the turn of the 20th century", "[1896..1905]"),
    ("Towards the end of the 19th century it fell.", "the end of the 19th century", "[1885..1900]"),
    ("In the 13th and 12th centuries BC it fell.", "13th and 12th centuries BC", "-1299/-1100"),
    ("In the 12th–13th century it stood.", "12th–13th century", "1101/1300"),
    ("In 18th- and 19th-century Europe.", "18th- and 19th-century", "1701/1900"),
    ("The late 18th and early 19th centuries.", "late 18th and early 19th centuries", "1767/1834"),
    ("From the 14th through the 16th century.", "From the 14th through the 16th century", "1301/1600"),
    ("Between the 12th and 13th centuries.", "Between the 12th and 13th centuries", "[1101..1300]"),
    ("Advanced by the 18th century physician.", "18th century", "[1701..1800]"),
    ("In the third millennium BC it rose.", "third millennium BC", "[-2999..-2000]"),
    # ages
    ("It froze 12,000 years ago.", "12,000 years ago", "[Y-10500..-9500]"),
    ("It ended about 66 million years ago.", "about 66 million years ago", "[Y-66498000~..Y-65498000~]"),
    ("It began two million years ago.", "two million years ago", "[Y-2498000..Y-1498000]"),
    ("It began at 65.5 Ma.", "65.5 Ma", "[Y-65548000..Y-65448000]"),
    ("Life began 3.5 billion years ago.", "3.5 billion years ago", "[Y-3549998000..Y-3449998000]"),
    ("It began 65.5 ± 0.3 Ma.", "65.5 ± 0.3 Ma", "[Y-65548000..Y-65448000]"),
    ("Finds go back to 130,000-110,000 BC.", "130,000-110,000 BC", "Y-129999/Y-109999"),
    ("In the 2nd and 3rd centuries BCE.", "2nd and 3rd centuries BCE", "-0299/-0100"),
    ("It froze at 12,000 BP.", "12,000 BP", "[Y-10550..-9550]"),
    ("Made there in the 10th millennium b.p. at last.", "10th millennium b.p.", "[-8050..-7050]"),
    ("Made in the 7th millennium before the present.", "7th millennium before the present", "[-5050..-4050]"),
    ("From the 10th to 8th millennia BP.", "From the 10th to 8th millennia BP", "-8050/-5050"),
    ("In the first half of the 6th millennium BP.", "the first half of the 6th millennium BP", "[-4050..-3550]"),
    ("In the 30th century B.P. it rose.", "30th century B.P.", "[-1050..-0950]"),
    ("It froze 9000 years b.p. there.", "9000 years b.p.", "[-7550..-6550]"),
    ("It froze at 10,000 cal yr BP.", "10,000 cal yr BP", "[Y-10550..-5550]"),
    ("It froze 8,000 calibrated years before present.", "8,000 calibrated years before present", "[-6550..-5550]"),
    ("It froze 12 ka BP, they say.", "12 ka BP", "[Y-10550..-9550]"),
    ("A rise from 15-6 kyr BP was rapid.", "from 15-6 kyr BP", "Y-13050/-4050"),
    ("It rose between 600 and 400 Myr BP.", "between 600 and 400 Myr BP", "[Y-599998000..Y-399998000]"),
    ("It lasted 22,000–14,000 yr BP.", "22,000–14,000 yr BP", "[Y-20050..Y-12050]"),
    ("Mastogloia Sea 8000 BP-7500 BP", "8000 BP-7500 BP", "[-6050..-5550]"),
    ("Of 18,250 ±650 to 16,600 ±300 years BP.", "18,250 ±650 to 16,600 ±300 years BP", "[Y-16300..Y-14650]"),
    ("It was 5 millennia ago.", "5 millennia ago", "[-3500..-2500]"),
    ("Made in the 2nd millennium BP, they say.", "2nd millennium BP", "[-0050..0950]"),
    ("Made in the 2nd to 1st millennia BP.", "2nd to 1st millennia BP", "[-0050..1950]"),
    ("It rose in the 1st millennium before present.", "1st millennium before present", "[0950..1950]"),
    ("From the 2nd to 1st millennia b.p. it rose.", "From the 2nd to 1st millennia b.p.", "-0050/1950"),
    ("In the 15th century cal BP it rose.", "15th century cal BP", "[0450..0550]"),
    ("It froze 12 ka before the present ice came.", "12 ka before the present", "[Y-10550..-9550]"),
    ("It froze 8000 before present.", "8000 before present", "[-6550..-5550]"),
    ("Charcoal was dated to 1980 ± 60 BP.", "1980 ± 60 BP", "[-0035..-0025]"),
    ("Charcoal dated to 2050 BP was found.", "2050 BP", "[-0105..-0095]"),
    ("Dated to 1990 b.p.", "1990 b.p.", "[-0045..-0035]"),
    ("It was made in 1990 BP.", "1990 BP", "[-0045..-0035]"),
    # the same letters and words as names, and of a thing of today
    ("In 2005 BP was a firm.", "2005", "2005"),
    ("In April 2010 BP's rig sank.", "April 2010", "2010-04"),
    ("In the 20th century BP was a firm.", "20th century", "[1901..2000]"),
    ("In 1863 B. P. Hasdeu founded a paper.", "1863", "1863"),
    ("In the 19th century B. P. Hasdeu wrote.", "19th century", "[1801..1900]"),
    ("A chapel stood here in 1805 before the present church was built.", "1805", "1805"),
    ("It stood in the 12th century before the present church.", "12th century", "[1101..1200]"),
    ("It was used since 1750 before the present building.", "since 1750", "1750/.."),
    ("Apollo 11 – 1969.", "1969", "1969"),
    ("It split between 5 and 6 million years ago.", "between 5 and 6 million years ago", "[Y-5998000..Y-4998000]"),
    ("It ended (65 m.y.a.) then.", "65 m.y.a.", "[Y-65498000..Y-64498000]"),
    # how genealogists and registers write
    ('He was born "c. 1735".', "c. 1735", "1735~"),
    ("He was born 'c. 1735'.", "c. 1735", "1735~"),
    ("He was born “c. 1735”.", "c. 1735", "1735~"),
    ('He wrote: "In 1944 we left."', "1944", "1944"),
    ('It says "between 1791 and 1795" there.', "between 1791 and 1795", "[1791..1795]"),
    ("date of death: 1791 | rank: none", "1791", "1791"),
    ("He was born 21 September? 1327.", "21 September? 1327", "1327-09-21"),
    ("Emmy (1876?–1959) came.", "1876?–1959", "1876/1959"),
    ("Emmy (?–1959) came.", "1959", "1959"),
    ("born abt 1735", "abt 1735", "1735~"),
    ("born ABT. 1735", "ABT. 1735", "1735~"),
    ("born c1735", "c1735", "1735~"),
    ("born ca 1735", "ca 1735", "1735~"),
    ("born ~1735", "~1735", "1735~"),
    ("born approximately 1735", "approximately 1735", "1735~"),
    ("died BEF 3 MAY 1735", "BEF 3 MAY 1735", "[..1735-05-03]"),
    ("died aft. 1735", "aft. 1735", "[1735..]"),
    ("died BET 3 MAY 1735 AND 6 JUN 1740", "BET 3 MAY 1735 AND 6 JUN 1740", "[1735-05-03..1740-06-06]"),
    ("born @#DJULIAN@ 4 FEB 1731", "4 FEB 1731", "1731-02-04"),
    ("He was born probably 1735.", "1735", "1735"),
    ("She was bapt. 1735 there.", "1735", "1735"),
    ("Ann, b.1735, wrote.", "1735", "1735"),
    ("Ann † 1735", "1735", "1735"),
    ("He died at Upper Slaughter 1803.", "1803", "1803"),
    ("m. 1st 1803 Ann", "1803", "1803"),
    ("He died no later than 1803.", "no later than 1803", "[..1803]"),
    ("He died not after 1803.", "not after 1803", "[..1803]"),
    ("He died not before 1803.", "not before 1803", "[1803..]"),
    ("He died in 1803 or later.", "1803 or later", "[1803..]"),
    ("He died in 1803 or shortly before.", "1803 or shortly before", "[..1803]"),
    ("He died in 1803 at the latest.", "1803 at the latest", "[..1803]"),
    ("He died in 1803 or 1804.", "1803 or 1804", "[1803..1804]"),
    ("He died on 3 or 4 May 1803.", "3 or 4 May 1803", "[1803-05-03..1803-05-04]"),
    ("He died in May or June 1803.", "May or June 1803", "[1803-05-01..1803-06-30]"),
    ("It was not until 1862 that it came.", "1862", "1862"),
    ("He died the third of May 1803.", "third of May 1803", "1803-05-03"),
    ("He died the twenty-first day of May, 1803.", "twenty-first day of May, 1803", "1803-05-21"),
    ("He died May the 3rd, 1803.", "May the 3rd, 1803", "1803-05-03"),
    ("He died 3d May 1803.", "3d May 1803", "1803-05-03"),
    ("He died 3 7ber 1690.", "3 7ber 1690", "1690-09-03"),
    ('It won "first past the post" from 1929.', "1929", "1929"),
    ('In "On Acids," 1778, he said it.', "1778", "1778"),
    ("Edward (09.11.1841–06.05.1910) ruled.", "09.11.1841–06.05.1910", "1841-11-09/1910-05-06"),
    ("Filed 13/05/1803 there.", "13/05/1803", "1803-05-13"),
    ("Filed 5/13/1803 there.", "5/13/1803", "1803-05-13"),
    ("Filed 3/5/1803 there.", "3/5/1803", "1803"),
    ("Filed 1803/05/03 there.", "1803/05/03", "1803-05-03"),
    ("Ovid (AD 8–18) wrote.", "AD 8–18", "0008/0018"),
    ("He was king from 900 to 943.", "from 900 to 943", "0900/0943"),
    ("Alfred was born between 847 and 849.", "between 847 and 849", "[0847..0849]"),
    ("It fell in 100 B. C. there.", "100 B. C.", "-0099"),
    ("In the year of our Lord 742 he came.", "our Lord 742", "0742"),
    ("It was due at Michaelmas 1290.", "1290", "1290"),
    ("In the last third of the 12th century.", "the last third of the 12th century", "[1167..1200]"),
]  # fmt: skip

NOT_READ = [
    "1500 people came.", "They lived in 1200 houses.", "It is 2000 metres high.", "It covers 1945 km².",
    "It cost £1500.",
    "It has a population of 1812.", "It has 1,944 members.", "The Boeing 747 flew.", "See page 1234.", "See No. 1984.",
    "It runs Windows 2000.", "It meets ISO 9001.", "Take Route 1066.", "It began at 12:30.", "You May 15 times ask.",
    "They March 15 miles.", "About 1/2 of it.", "In 300 cases it failed.", "They met on 5 June.", "They met on June 5.",
    "It rises from 1500 to 2000 metres.", "It rises 1500–2000 m.", "It rises from 1500 to 2,500 metres.",
    "Some 20 years ago it fell.", "It was sold to 20th Century Fox.", "In the year AH 1345.", "He wrote it in 1345 AH.",
    "It is about 1500 km long.", "In the 90s it fell.", "A total of 1500 men came.", "It grew by 2000 feet.",
    "In 1500 different places.", "Pi is 3.1944.", "The code is x1944.", "The 1944th of them.",
    "At 1500 hours it began.",
    "It increased to 1500.", "Over 1500 ships came.", "They flew 747s.", "On 30 February 1944 nothing.",
    "0 BC is none.",
    "One of 1200 of them.", "A crew of 1200.", "The 1500 soldiers left.", "It reached 1945 m.", "It sold 1984 copies.",
    "It was 1 in 500.", "He is 12 or 13.", "CAS 7440-53-1", "It is 53°15′N.", "It weighs 1600 kg.",
    "It was 1600-strong.",
    # ranges whose first figure is not a year, and letters that mean something else
    "Label: Atlantic 45-1050", "It came out as Atlantic 45 – 1050.", "Elevation: 45–1050", "It grows at 45 - 1050 m.",
    "Some have between 45 and 1050 in all.", "Its number is in 045-1050 there.", "It is 1,349 bp long.",
    "m.p. 1538, b.p. 2861",
    # other calendars, and dates that cannot be known
    "12 Muharram 632", "He came in AH 632.", "5 Nisan 5503", "In 5503 AM he came.", "5 Vendémiaire an IV",
    "the 12th year of Henry VIII", "3 Edward I", "3rd day of the 12th month", "from 742 to 814 of them",
    "The size is approximately 1803.", "No more than 1803.", "The ratio 742; 814", "Version 3.5.1.", "It won 3-5-2.",
]  # fmt: skip


def places(text: str, language: str = "eng") -> list[tuple[str, str]]:
    return [(text[start:end], when.edtf()) for start, end, when in dates_in(text, language)]


@pytest.mark.parametrize(("text", "words", "edtf"), READ, ids=[row[0] for row in READ])
def test_a_date_is_read(text: str, words: str, edtf: str) -> None:
    """The words that make a date are found, and the days that they mean."""
    assert places(text) == [(words, edtf)]


@pytest.mark.parametrize("text", NOT_READ)
def test_a_number_that_is_not_a_date_is_left(text: str) -> None:
    """Counts, sizes, names, times and days without a year are not dates."""
    assert places(text) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Ann (born 1809; died 1882) wrote.", ["1809", "1882"]),
        ("He won in 1912, 1920 and 1924.", ["1912", "1920", "1924"]),
        ("In the following two years, 1981 and 1982.", ["1981", "1982"]),
        ("In the 1980s and 90s it grew.", ["198X", "199X"]),
        ("It began in 1900 and ended in 1999.", ["1900", "1999"]),
        ("25 December 1642 [NS: 4 January 1643]", ["1642-12-25", "1643-01-04"]),
        ("In the late 1700s and early 1800s.", ["[1766..1799]", "[1800..1833]"]),
        ("In 1950 it had 1200 people and in 1960 1500 people.", ["1950", "1960"]),
        ("29 BC\t28 BC\t27 BC", ["-0028", "-0027", "-0026"]),
    ],
)
def test_several_dates_stay_apart(text: str, found: list[str]) -> None:
    """Dates that nothing joins are read one by one."""
    assert [edtf for _, edtf in places(text)] == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Ein Haus (1914–1918) stand dort.", ["1914/1918"]),
        ("Ein Haus (1944) stand dort.", ["1944"]),
        ("Gebaut 1819-05-24.", ["1819-05-24"]),
        ("Es hat 1944 Einwohner.", []),
    ],
)
def test_figures_are_read_in_any_language(text: str, found: list[str]) -> None:
    """A language whose words are not known still has ISO dates, pairs of years and years in brackets."""
    assert [edtf for _, edtf in places(text, "xyz")] == found


def test_a_range_that_lasts_is_distinguished_from_a_moment_in_it() -> None:
    """A war lasts from one year to another; a thing made between two years was made once."""
    lasts = {text: [date.when.lasts for date in dates_in(text)] for text in ("1914–1918", "between 1914 and 1918")}
    assert lasts == {"1914–1918": [True], "between 1914 and 1918": [False]}


SCRAPS = st.sampled_from(
    [
        "5", "12", "79", "476", "1944", "1918", "18", "10,000", "65.5", "1/2", "2006", "99999999999999999999",
        "June", "May",
        "Sept.", "BC", "AD", "c.", "circa", "between", "and", "from", "to", "–", "-", "/", "century", "centuries",
        "12th",
        "twelfth", "millennium", "late", "mid", "the", "of", "s", "'", "million", "years ago", "Ma", "BP", "(",
        ")", "[",
        "]", ",", ".", "\n", "\t", "until", "since", "in", "spring", "winter", "(Old Style)", "O.S.", "İ",
        "\u00a0", "±",
        "the first half of", "present", "onwards", "people", "00", "0", "31", "29 February", "1582", "October", "year",
        '"', "?", "or", "c1803", "†", "3.5.1803", "3/5/1803", "not until", "or later", "third of", "MAY", "|", "b.",
    ]
)  # fmt: skip
SCRAPPY = st.lists(st.tuples(SCRAPS, st.sampled_from(["", " ", " "])), max_size=14).map(
    lambda pairs: "".join(scrap + gap for scrap, gap in pairs)
)


def check(text: str, dates: list[DateMention]) -> None:
    end = 0
    for start, stop, when in dates:
        assert end <= start < stop <= len(text)
        assert text[start:stop].strip() == text[start:stop]
        assert any(sign.isalnum() for sign in text[start:stop])
        assert when.earliest <= when.latest
        assert when.words()
        assert when.edtf()
        end = stop


@given(SCRAPPY | st.text(max_size=80))
def test_any_text_can_be_read(text: str) -> None:
    """Whatever the text, dates come in order, do not overlap, and point at words of it."""
    for language in ("eng", "", "../eng"):
        check(text, dates_in(text, language))


@given(SCRAPPY, SCRAPPY)
def test_a_paragraph_is_read_as_without_the_one_before(one: str, other: str) -> None:
    """What is read in a paragraph is the same with another paragraph before it."""
    before = f"{one}.\n\n"
    alone = [(date.start, date.end, date.when) for date in dates_in(other)]
    behind = [
        (date.start - len(before), date.end - len(before), date.when)
        for date in dates_in(before + other)
        if date.start >= len(before)
    ]
    assert behind == alone


def test_long_runs_of_figures_are_read_in_one_pass() -> None:
    """A page of figures and dashes without spaces takes no longer than its length."""
    for text in ("1944–" * 20_000, "9" * 100_000, "12th and " * 10_000, "(" * 50_000 + "1944", "1,000" * 20_000):
        check(text, dates_in(text))
