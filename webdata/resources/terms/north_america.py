"""Data of `job_terms`: places of North America as job seekers write them, and countries elsewhere."""

COUNTRIES = {
    "united states": ("united states of america", "usa", "us", "america", "estados unidos", "etats unis"),
    "canada": (),
    "mexico": ("mx",),
    "north america": (),
    "antigua and barbuda": (), "bahamas": ("the bahamas",), "barbados": (), "belize": (), "bermuda": (),
    "cayman islands": (), "costa rica": (), "cuba": (), "dominica": (), "dominican republic": (), "el salvador": (),
    "greenland": (), "grenada": (), "guatemala": (), "haiti": (), "honduras": (), "jamaica": (), "nicaragua": (),
    "panama": (), "saint kitts and nevis": (), "saint lucia": (), "saint vincent and the grenadines": (),
    "trinidad and tobago": ("trinidad",),
}  # fmt: skip
"""The continent and its countries: the other names of each English name, in lower case."""

STATES = {
    "United States": {
        "Alabama": "AL", "Alaska": "AK", "Arizona": "AZ", "Arkansas": "AR", "California": "CA", "Colorado": "CO",
        "Connecticut": "CT", "Delaware": "DE", "District of Columbia": "DC", "Florida": "FL", "Georgia": "GA",
        "Hawaii": "HI", "Idaho": "ID", "Illinois": "IL", "Indiana": "IN", "Iowa": "IA", "Kansas": "KS",
        "Kentucky": "KY", "Louisiana": "LA", "Maine": "ME", "Maryland": "MD", "Massachusetts": "MA", "Michigan": "MI",
        "Minnesota": "MN", "Mississippi": "MS", "Missouri": "MO", "Montana": "MT", "Nebraska": "NE", "Nevada": "NV",
        "New Hampshire": "NH", "New Jersey": "NJ", "New Mexico": "NM", "New York": "NY", "North Carolina": "NC",
        "North Dakota": "ND", "Ohio": "OH", "Oklahoma": "OK", "Oregon": "OR", "Pennsylvania": "PA",
        "Puerto Rico": "PR", "Rhode Island": "RI", "South Carolina": "SC", "South Dakota": "SD", "Tennessee": "TN",
        "Texas": "TX", "Utah": "UT", "Vermont": "VT", "Virginia": "VA", "Washington": "WA", "West Virginia": "WV",
        "Wisconsin": "WI", "Wyoming": "WY",
    },
    "Canada": {
        "Alberta": "AB", "British Columbia": "BC", "Manitoba": "MB", "New Brunswick": "NB",
        "Newfoundland and Labrador": "NL", "Northwest Territories": "NT", "Nova Scotia": "NS", "Nunavut": "NU",
        "Ontario": "ON", "Prince Edward Island": "PE", "Quebec": "QC", "Saskatchewan": "SK", "Yukon": "YT",
    },
    "Mexico": {
        "Aguascalientes": "AGS", "Baja California": "", "Baja California Sur": "BCS", "Campeche": "", "Chiapas": "",
        "Chihuahua": "CHIH", "Coahuila": "COAH", "Colima": "", "Durango": "", "Guanajuato": "GTO", "Guerrero": "",
        "Hidalgo": "", "Jalisco": "JAL", "Estado de México": "EDOMEX", "Michoacán": "MICH", "Morelos": "",
        "Nayarit": "", "Nuevo León": "", "Oaxaca": "", "Puebla": "", "Querétaro": "QRO", "Quintana Roo": "",
        "San Luis Potosí": "SLP", "Sinaloa": "", "Sonora": "", "Tabasco": "", "Tamaulipas": "TAMPS", "Tlaxcala": "",
        "Veracruz": "", "Yucatán": "", "Zacatecas": "",
    },
}  # fmt: skip
"""The states, provinces and territories of each country, with their codes; "" for one without a usual code."""

TOWNS = {
    "AL": "Birmingham, Huntsville, Montgomery, Mobile, Tuscaloosa",
    "AK": "Anchorage, Fairbanks, Juneau",
    "AZ": "Phoenix, Tucson, Mesa, Chandler, Scottsdale, Glendale, Gilbert, Tempe, Peoria, Surprise, Flagstaff, Yuma",
    "AR": "Little Rock, Fayetteville, Fort Smith, Bentonville",
    "CA": "Los Angeles, San Diego, San Jose, San Francisco, Fresno, Sacramento, Long Beach, Oakland, Bakersfield, "
    "Anaheim, Stockton, Riverside, Santa Ana, Irvine, Chula Vista, Fremont, Santa Clarita, San Bernardino, Modesto, "
    "Fontana, Moreno Valley, Oxnard, Huntington Beach, Santa Rosa, Elk Grove, Corona, Palo Alto, Mountain "
    "View, Sunnyvale, Santa Clara, Cupertino, Menlo Park, Redwood City, San Mateo, Berkeley, Pasadena, Burbank, "
    "Santa Monica, Torrance, Orange, Escondido, Carlsbad, Santa Barbara, Visalia, Hayward, Concord, Bay Area, "
    "San Francisco Bay Area",
    "CO": "Denver, Colorado Springs, Aurora, Fort Collins, Lakewood, Boulder, Pueblo, Centennial, Greeley, Loveland",
    "CT": "Hartford, Bridgeport, New Haven, Stamford, Waterbury, Norwalk, Danbury",
    "DE": "Wilmington, Dover, Newark",
    "DC": "Washington DC",
    "FL": "Miami, Orlando, Tampa, Jacksonville, St. Petersburg, Fort Lauderdale, Tallahassee, Hialeah, Cape Coral, "
    "Fort Myers, West Palm Beach, Gainesville, Boca Raton, Sarasota, Pensacola, Clearwater, Lakeland, Daytona Beach",
    "GA": "Atlanta, Savannah, Augusta, Macon, Alpharetta, Marietta, Sandy Springs",
    "HI": "Honolulu, Hilo",
    "ID": "Boise, Meridian, Nampa, Idaho Falls",
    "IL": "Chicago, Naperville, Joliet, Rockford, Springfield, Champaign, Evanston, Schaumburg",
    "IN": "Indianapolis, Fort Wayne, Evansville, South Bend, Bloomington, Lafayette",
    "IA": "Des Moines, Cedar Rapids, Davenport, Sioux City, Iowa City",
    "KS": "Wichita, Overland Park, Topeka, Olathe",
    "KY": "Louisville, Lexington, Bowling Green",
    "LA": "New Orleans, Baton Rouge, Shreveport, Lake Charles",
    "ME": "Bangor",
    "MD": "Baltimore, Columbia, Rockville, Bethesda, Silver Spring, Annapolis, Gaithersburg, Germantown",
    "MA": "Boston, Worcester, Cambridge, Lowell, Quincy, Waltham, Somerville, Framingham, Greater Boston",
    "MI": "Detroit, Grand Rapids, Ann Arbor, Lansing, Kalamazoo, Dearborn, Sterling Heights, Warren, Flint",
    "MN": "Minneapolis, St. Paul, Rochester, Duluth",
    "MS": "Jackson, Gulfport, Biloxi",
    "MO": "Kansas City, St. Louis, Columbia",
    "MT": "Billings, Missoula, Bozeman, Helena",
    "NE": "Omaha, Lincoln",
    "NV": "Las Vegas, Henderson, Reno, Enterprise, Paradise, Carson City",
    "NH": "Manchester, Nashua",
    "NJ": "Jersey City, Newark, Paterson, Trenton, Princeton, Hoboken, Camden, Edison",
    "NM": "Albuquerque, Santa Fe, Las Cruces, Rio Rancho",
    "NY": "New York, New York City, NYC, Manhattan, Brooklyn, Queens, Bronx, Staten Island, Buffalo, Rochester, "
    "Yonkers, Syracuse, Albany, White Plains, Long Island",
    "NC": "Charlotte, Raleigh, Greensboro, Durham, Winston-Salem, Fayetteville, Cary, Wilmington, Asheville, "
    "Chapel Hill",
    "ND": "Fargo, Bismarck",
    "OH": "Columbus, Cleveland, Cincinnati, Toledo, Akron, Dayton",
    "OK": "Oklahoma City, Tulsa",
    "OR": "Portland, Eugene, Salem, Bend, Hillsboro, Beaverton",
    "PA": "Philadelphia, Pittsburgh, Allentown, Harrisburg, Scranton, Reading, Lancaster",
    "PR": "San Juan, Ponce",
    "RI": "Providence, Cranston",
    "SC": "Charleston, Columbia, Greenville, Myrtle Beach",
    "SD": "Sioux Falls, Rapid City",
    "TN": "Nashville, Memphis, Knoxville, Chattanooga, Clarksville, Murfreesboro",
    "TX": "Houston, San Antonio, Dallas, Austin, Fort Worth, El Paso, Arlington, Corpus Christi, Plano, Laredo, "
    "Lubbock, Irving, Garland, Frisco, McKinney, Amarillo, Brownsville, Killeen, Round Rock, The Woodlands, "
    "Sugar Land, Waco, Midland, Odessa, McAllen, Temple, Denton, Dallas-Fort Worth",
    "UT": "Salt Lake City, Provo, Ogden, West Valley City, Lehi, St. George, Sandy",
    "VT": "Burlington, Montpelier",
    "VA": "Virginia Beach, Norfolk, Richmond, Chesapeake, Alexandria, Reston, Newport News, Roanoke, Hampton, "
    "Fairfax, McLean",
    "WA": "Seattle, Spokane, Tacoma, Bellevue, Redmond, Kirkland, Everett, Olympia, Kent, Renton",
    "WV": "Charleston, Huntington, Morgantown",
    "WI": "Milwaukee, Madison, Green Bay, Kenosha, Racine, Appleton",
    "WY": "Cheyenne, Casper",
    "AB": "Calgary, Edmonton, Red Deer, Lethbridge, Fort McMurray",
    "BC": "Vancouver, Surrey, Burnaby, Victoria, Kelowna, Abbotsford, Nanaimo, Kamloops, Coquitlam",
    "MB": "Winnipeg, Brandon",
    "NB": "Moncton, Fredericton, Saint John",
    "NL": "St. John's",
    "NS": "Halifax, Dartmouth",
    "ON": "Toronto, Ottawa, Mississauga, Brampton, Hamilton, Markham, Vaughan, Kitchener, Waterloo, Windsor, Oshawa, "
    "Guelph, Barrie, Kingston, Burlington, Oakville, Sudbury, Thunder Bay, Richmond Hill, Niagara Falls, Scarborough, "
    "Etobicoke, North York, London",
    "PE": "Charlottetown",
    "QC": "Montréal, Québec City, Laval, Gatineau, Longueuil, Sherbrooke, Trois-Rivières",
    "SK": "Saskatoon, Regina",
    "YT": "Whitehorse",
    "NT": "Yellowknife",
    "Mexico": "Mexico City, Ciudad de México, CDMX, Mexico DF",
    "Jalisco": "Guadalajara, Zapopan, Puerto Vallarta",
    "Nuevo León": "Monterrey, San Pedro Garza García",
    "Baja California": "Tijuana, Mexicali, Ensenada",
    "Chihuahua": "Ciudad Juárez",
    "Guanajuato": "León, Irapuato, Celaya",
    "Quintana Roo": "Cancún, Playa del Carmen",
    "Yucatán": "Mérida",
    "Sinaloa": "Culiacán, Mazatlán",
    "Sonora": "Hermosillo",
    "Coahuila": "Saltillo, Torreón",
    "Tamaulipas": "Reynosa, Matamoros, Tampico",
    "Morelos": "Cuernavaca",
    "Estado de México": "Toluca",
    "Michoacán": "Morelia",
    "Tabasco": "Villahermosa",
}
"""Larger towns by state (its code, else its name); a name in several states means the first of them."""

OTHER_NAMES = {
    "nyc": "New York", "new york city": "New York", "washington dc": "Washington",
    "bay area": "San Francisco Bay Area", "cdmx": "Mexico City", "ciudad de mexico": "Mexico City",
    "mexico df": "Mexico City",
}  # fmt: skip
"""Other names of towns, with the name in TOWNS."""

WORDS = frozenset({
    "aurora", "centennial", "concord", "corona", "enterprise", "hampton", "independence", "london", "madison",
    "mission", "mobile", "orange", "paradise", "providence", "reading", "sandy", "surprise", "temple", "warren",
})  # fmt: skip
"""Towns whose names have another meaning in a job's title: they count only before a state or after "in"."""

BARE_CODES = frozenset({
    "AZ", "BC", "CA", "DC", "FL", "GA", "IL", "KS", "KY", "MN", "NC", "ND", "NH", "NJ", "NM", "NV", "NY", "OH",
    "QC", "RI", "SC", "SD", "TN", "TX", "UT", "VA", "WA", "WI", "WV", "WY",
})  # fmt: skip
"""Codes that mean their state even without a town or a comma before them; `PA`, `MD`, `OR` are also jobs."""

ELSEWHERE = frozenset({
    "afghanistan", "africa", "albania", "algeria", "andorra", "angola", "argentina", "armenia", "asia", "australia",
    "austria", "azerbaijan", "bahrain", "bangladesh", "belarus", "belgium", "benin", "bhutan", "bolivia", "bosnia",
    "bosnia and herzegovina", "botswana", "brasil", "brazil", "brunei", "bulgaria", "burkina faso", "burundi",
    "cambodia", "cameroon", "cape verde", "central african republic", "chad", "chile", "china", "colombia", "congo",
    "cote d'ivoire", "croatia", "cyprus", "czech republic", "czechia", "denmark", "deutschland", "djibouti",
    "ecuador", "egypt", "england", "eritrea", "espana", "estonia", "eswatini", "ethiopia", "eu", "europe",
    "european union", "fiji", "finland", "france", "gabon", "gambia", "germany", "ghana", "gibraltar",
    "great britain", "greece", "guinea", "guyana", "hong kong", "hungary", "iceland", "india", "indonesia", "iran",
    "iraq", "ireland", "israel", "italia", "italy", "ivory coast", "japan", "jordan", "kazakhstan", "kenya",
    "korea", "kosovo", "kuwait", "kyrgyzstan", "laos", "latin america", "latvia", "lebanon", "lesotho", "liberia",
    "libya", "liechtenstein", "lithuania", "luxembourg", "macau", "madagascar", "malawi", "malaysia", "maldives",
    "mali", "malta", "mauritania", "mauritius", "middle east", "moldova", "monaco", "mongolia", "montenegro",
    "morocco", "mozambique", "myanmar", "namibia", "nepal", "netherlands", "new zealand", "niger", "nigeria",
    "north korea", "north macedonia", "northern ireland", "norway", "oman", "pakistan", "palestine",
    "papua new guinea", "paraguay", "peru", "philippines", "poland", "portugal", "qatar", "romania", "russia",
    "rwanda", "samoa", "san marino", "saudi arabia", "scotland", "senegal", "serbia", "seychelles", "sierra leone",
    "singapore", "slovakia", "slovenia", "somalia", "south africa", "south america", "south korea", "south sudan",
    "spain", "sri lanka", "sudan", "suriname", "sweden", "switzerland", "syria", "taiwan", "tajikistan", "tanzania",
    "thailand", "togo", "tonga", "tunisia", "turkey", "turkiye", "turkmenistan", "uae", "uganda", "uk", "ukraine",
    "united arab emirates", "united kingdom", "uruguay", "uzbekistan", "vatican", "venezuela", "vietnam", "wales",
    "yemen", "zambia", "zimbabwe",
})  # fmt: skip
"""Countries and continents outside of North America."""
