//! English words that indicate a built-in domain. Only the lists; the weights are in the parent
//! module.
//!
//! A word belongs here when a message with it is mostly about the domain. Words that fit any
//! message ("new", "good", "today") do not. A word may be in several domains; it then counts
//! less in each. Forms that differ only in their ending ("bill", "bills", "billed") need one entry.

pub(super) const BUILTIN: [(&str, &[&str]); 11] = [
    ("communication", COMMUNICATION),
    ("finance", FINANCE),
    ("food", FOOD),
    ("health", HEALTH),
    ("personal", PERSONAL),
    ("relationships", RELATIONSHIPS),
    ("religion", RELIGION),
    ("schedule", SCHEDULE),
    ("shopping", SHOPPING),
    ("travel", TRAVEL),
    ("work", WORK),
];

#[rustfmt::skip]
const COMMUNICATION: &[&str] = &[
    "communication", "email", "e-mail", "mail", "inbox", "message", "text message", "sms", "chat",
    "slack", "teams channel", "whatsapp", "telegram", "discord", "newsletter", "notification",
    "phone call", "voicemail", "reply", "respond", "response", "answer style", "tone", "wording",
    "draft", "rewrite", "rephrase", "summarize", "summary", "bullet points", "bullets", "concise",
    "verbose", "formal", "informal", "emoji", "jargon", "language", "translate", "letter",
    "cover letter", "thank you note", "subject line", "signature", "cc", "unsubscribe", "contact",
];

#[rustfmt::skip]
const FINANCE: &[&str] = &[
    "finance", "financial", "money", "budget", "bank", "bank account", "savings", "saving account",
    "loan", "mortgage", "debt", "credit", "credit card", "credit score", "interest rate", "invest",
    "investment", "investor", "stock", "etf", "bond", "crypto", "bitcoin", "dividend", "portfolio",
    "tax", "tax return", "income", "salary", "pension", "retirement", "401k", "insurance", "bill",
    "rent", "invoice", "payment", "pay off", "expense", "spend", "afford", "currency",
    "exchange rate", "net worth", "overdraft", "brokerage", "inheritance",
];

#[rustfmt::skip]
const FOOD: &[&str] = &[
    "food", "eat", "eating", "ate", "meal", "breakfast", "lunch", "dinner", "brunch", "supper",
    "snack", "dessert", "recipe", "cook", "bake", "grill", "restaurant", "cafe", "takeaway",
    "takeout", "menu", "dine", "dining", "cuisine", "dish", "vegetarian", "vegan", "gluten",
    "gluten free", "dairy", "lactose", "spicy", "coffee", "tea", "wine", "beer", "pizza", "pasta",
    "sushi", "cheese", "meat", "fish", "vegetable", "fruit", "ingredient", "hungry", "taste",
    "flavour", "flavor", "kitchen", "meal plan", "groceries", "peanut", "nut allergy",
];

#[rustfmt::skip]
const HEALTH: &[&str] = &[
    "health", "doctor", "physician", "dentist", "therapist", "therapy", "hospital", "clinic",
    "medicine", "medication", "prescription", "pill", "dose", "vaccine", "symptom", "diagnosis",
    "diagnosed", "disease", "illness", "sick", "fever", "headache", "migraine", "pain", "injury",
    "allergy", "allergic", "nut allergy", "asthma", "diabetes", "blood pressure", "blood test",
    "cholesterol", "surgery", "pregnant", "pregnancy", "anxiety", "depression", "mental health",
    "sleep", "insomnia", "exercise", "workout", "work out", "gym", "fitness", "go running",
    "went running", "yoga", "diet", "calories", "weight", "lose weight", "vitamin", "heart rate",
    "physio",
];

#[rustfmt::skip]
const PERSONAL: &[&str] = &[
    "personal", "hobby", "hobbies", "music", "song", "playlist", "guitar", "piano", "movie", "film",
    "tv show", "novel", "reading list", "podcast", "game", "video game", "chess", "photography",
    "painting", "gardening", "garden", "hiking", "bike ride", "climbing", "football", "tennis",
    "team i support", "pet", "dog", "cat", "my home", "apartment", "house", "furniture", "hometown",
    "childhood", "grew up", "my birthday", "my name", "my age", "nickname", "favorite", "favourite",
    "habit", "new year's resolution", "learn to", "diary", "journal",
];

#[rustfmt::skip]
const RELATIONSHIPS: &[&str] = &[
    "relationship", "relationships", "wife", "husband", "spouse", "partner", "girlfriend",
    "boyfriend", "fiancé", "fiancée", "fiance", "fiancee", "ex wife", "ex husband", "mother", "mom",
    "mum", "father", "dad", "parent", "son", "daughter", "child", "children", "kid", "baby",
    "brother", "sister", "sibling", "grandmother", "grandma", "grandfather", "grandpa", "aunt",
    "uncle", "cousin", "niece", "nephew", "family", "in laws", "friend", "best friend",
    "friendship", "roommate", "neighbour", "neighbor", "date night", "dating", "marriage",
    "married", "wedding", "anniversary", "divorce", "break up", "broke up", "breakup",
];

#[rustfmt::skip]
const RELIGION: &[&str] = &[
    "religion", "religious", "faith", "god", "allah", "jesus", "christ", "christian",
    "christianity", "catholic", "protestant", "orthodox", "muslim", "islam", "islamic", "jewish",
    "judaism", "hindu", "hinduism", "buddhist", "buddhism", "sikh", "atheist", "agnostic", "church",
    "mosque", "synagogue", "temple", "prayer", "pray", "bible", "quran", "koran", "torah",
    "scripture", "sermon", "priest", "pastor", "imam", "rabbi", "monk", "worship", "baptism",
    "communion", "lent", "ramadan", "eid", "hanukkah", "passover", "sabbath", "shabbat", "easter",
    "christmas mass", "halal", "kosher", "pilgrimage", "spiritual",
];

#[rustfmt::skip]
const SCHEDULE: &[&str] = &[
    "schedule", "calendar", "agenda", "appointment", "meeting", "reschedule", "deadline",
    "due date", "reminder", "remind", "remind me", "to do list", "todo", "task list", "routine",
    "morning routine", "availability", "free slot", "time slot", "time block", "time zone",
    "timezone", "booked up", "busy", "free time", "event", "invite", "invitation", "rsvp",
    "recurring", "weekly", "daily", "monthly", "standup", "postpone", "cancel", "move the meeting",
    "day off", "days off", "weekend", "what time", "alarm", "wake up", "start time", "planner",
    "upcoming", "office hours",
];

#[rustfmt::skip]
const SHOPPING: &[&str] = &[
    "shopping", "shop", "buy", "bought", "purchase", "my order", "an order", "the store",
    "online store", "amazon", "ebay", "cart", "checkout", "delivery", "shipping", "package",
    "parcel", "refund", "return policy", "warranty", "discount", "coupon", "voucher", "sale",
    "price", "cheap", "expensive", "bargain", "brand", "product", "gift", "wish list", "wishlist",
    "clothes", "clothing", "shoes", "sneakers", "jacket", "dress", "shirt", "shoe size", "mall",
    "supermarket", "groceries", "grocery", "shopping list", "receipt", "black friday",
    "laptop deal",
];

#[rustfmt::skip]
const TRAVEL: &[&str] = &[
    "travel", "traveling", "travelling", "trip", "journey", "vacation", "holiday", "flight", "fly",
    "flying", "plane", "airport", "airline", "layover", "boarding pass", "window seat",
    "aisle seat", "hotel", "hostel", "airbnb", "resort", "luggage", "suitcase", "carry on",
    "passport", "visa", "itinerary", "destination", "tourist", "sightseeing", "backpacking",
    "road trip", "train ticket", "by train", "train ride", "train station", "ferry", "cruise",
    "rental car", "rent a car", "car rental", "beach", "abroad", "jet lag", "guidebook",
    "city break", "frequent flyer", "miles program", "day trip", "public transport",
];

#[rustfmt::skip]
const WORK: &[&str] = &[
    "at work", "for work", "from work", "my work", "about work", "work life", "work from home",
    "job", "career", "office", "boss", "colleague", "coworker", "manager", "team lead", "company",
    "employer", "employee", "client", "customer", "project", "sprint", "standup", "meeting",
    "roadmap", "milestone", "stakeholder", "presentation", "slide deck", "quarterly review",
    "performance review", "promotion", "pay raise", "salary", "interview", "resume", "cv",
    "cover letter", "hire", "hiring", "onboarding", "resign", "contract", "freelance", "startup",
    "business", "code review", "codebase", "software", "deploy", "production", "backend",
    "frontend", "database", "pull request", "repository", "bug", "programming", "remote work",
];

/// Phrases in which a word above means something else. They match and count for no domain.
#[rustfmt::skip]
pub(super) const NEUTRAL: &[&str] = &[
    "in order", "in an order", "on the fly", "of course", "by the way", "nice to meet you",
    "pleased to meet you", "at the end of the day", "good to meet you", "in the long run", "bug me",
    "bugs me", "pay attention", "for the record", "my bad", "in my language", "draft mode",
    "price of", "oh my god", "thank god", "for god's sake", "good god",
];
