//! Common English words, so that they do not match similar names. Only the lists; the rules are in
//! the parent module.

/// Function words. A name that is one of these ("IT", "Go", "Who") matches only with its capitals.
pub(super) const LITTLE: &str = "
    a about after again all also am an and any are as at be because been before being but by can
    could did do does doing done for from get go got had has have he her here hi him his how i if
    in into is it its just let like may me might more most much must my no nor not now of off oh ok
    on one only or other our out over own per put same say see shall she should so some such than
    that the their them then there these they this those to too under until up us use very via was
    we well were what when where which while who whom why will with would yes yet you your
";

/// Common words of four letters or more. They are never taken for a typo of a name: "scale" is no
/// misspelt "Scala".
pub(super) const COMMON: &str = "
    able above accept access account across action active actual added address advice afraid after
    again against agree ahead alive alone along already also always amount angle angry animal
    another answer anyone anything apart appear apply area argue arrive article aside asked asking
    attack attend aunt auto available average avoid away back balance band bank base basic basis
    bath battle beach bear beat became because become been before began begin behind being believe
    below beside best better between beyond bill bird black blood blow blue board boat body book
    boot border born both bottom bowl brain branch brand bread break bring broad broke brother brown
    brush build built burn business busy button call calm came camp card care careful carry case
    cash catch caught cause cell center central certain chain chair chance change charge chart
    cheap check child choice choose chose circle city claim class clean clear click climb clock
    close cloth cloud club coast coat code coffee cold collect color colour column come common
    company compare complete concern condition connect consider contact contain content contest
    continue contract control convert cook cool copy core corner correct cost could count country
    couple course court cover crash create cross crowd cross current custom cycle daily damage dance
    dark data date dead deal dear death debate decide deep degree deliver demand depend depth design
    desire desk despite detail develop device differ dinner direct dirty discuss divide doctor does
    doing dollar done door double doubt down draft drag draw dream dress drink drive driven drop
    during dust duty each early earn earth ease east easy edge edit effect effort eight either else
    empty enable energy engine enjoy enough ensure enter entire entry equal error escape even event
    ever every exact example except exchange excite excuse exist expect explain export express
    extend extra face fact fail fair fall false family famous farm fast father fault favor fear feed
    feel feet fell felt fence field fifth fight figure file fill film final find fine finger finish
    fire firm first fish fixed flag flat flight float floor flow focus follow food foot force forget
    form formal format former forth forty forward found four frame free fresh friend from front fruit
    fuel full fund further future gain game garden gate gave general gentle gift girl give given
    glad glass goal goes gold gone good grade grand grant grass gray great green grew ground group
    grow guard guess guest guide habit hair half hall hand handle hang happen happy hard hardly harm
    hate have head heal hear heard heart heat heavy held hello help here hero hidden hide high hill
    hint hire hold hole home hope horse host hotel hour house huge human hundred hurry hurt idea
    image impact import improve include increase indeed index inside instead intend into invite
    issue item itself join joke judge jump just keep kept kick kids kill kind king kitchen knee knew
    know known label labor lack lady lake land language large last late later laugh layer lead leader
    leaf learn least leave left legal length less lesson letter level lift light like likely limit
    line link list listen little live lived lock long look loose lose loss lost loud love lower luck
    lunch made mail main major make male manage many mark market match matter maybe meal mean meant
    measure meat media meet member memory mention mere message method middle might mile milk mind
    mine minor minute miss mistake mixed mode model modern moment money month mood moon moral more
    morning most mostly mother motion mount mouse mouth move movie much music must name narrow nation
    nature near nearly need never news next nice night nine nobody noise none noon normal north nose
    note nothing notice novel number object obvious occur ocean offer office often once only onto
    open operate option orange order other ought outer output outside over owner pack page paid pain
    paint pair panel paper parent park part partner party pass passed past patch path patient pattern
    pause peace people perfect perhaps period permit person phone phrase pick picture piece pile pink
    pipe place plain plan plane plant plate play player please plenty plus point police pool poor
    popular port pose position possible post pound power practice prefer prepare present press pretty
    prevent price pride print prior private prize problem proceed process produce product profit
    program project promise proof proper propose protect prove provide public pull pure purpose push
    quality quarter queen question quick quickly quiet quite quote race radio rain raise ranch range
    rank rare rate rather reach react read reader ready real really reason recall receive recent
    record reduce refer reflect regard region regular reject relate release remain remember remind
    remote remove rent repair repeat replace reply report request require rescue research reserve
    rest result return reveal review rich ride right ring rise risk river road rock role roll roof
    room root rope rough round route rule rush safe said sail salt same sand sauce save scale scene
    school science score screen script search season seat second secret section secure seed seek
    seem seen select self sell send sense sent serious serve service session seven several shade
    shadow shake shall shape share sharp sheet shelf shell shift shine ship shirt shock shoe shoot
    shop shore short shot should shout show shown shut sick side sight sign signal silent silver
    simple simply since sing single sister site size skill skin sleep slide slight slip slow small
    smart smell smile smoke smooth snow social soft sold solid solve some someone song soon sort
    soul sound source south space spare speak special speed spell spend spent spirit split spoke
    sport spot spread spring stack staff stage stair stand standard star stare start state station
    stay steal steel step stick still stock stone stood stop store storm story straight strange
    stream street stress strike string strong struggle study stuff style subject succeed such sudden
    suffer sugar suggest suit summer supply support suppose sure surface surprise sweet swim switch
    system table take taken tale talk tall tape target task taste teach team tear tell tend term
    test text than thank that their them theme then theory there these they thick thin thing think
    third this those though thought thousand threat three threw through throw thus tight time tiny
    tired title today together told tone tonight took tool tooth topic total touch tough tour toward
    tower town trace track trade train travel treat tree trial trick tried trip trouble truck true
    trust truth turn twelve twenty twice type ugly uncle under union unit until upon upper used user
    usual usually value various very view village visit voice vote wage wait wake walk wall want war
    warm warn wash waste watch water wave weak wear weather week weight well went were west what
    wheel when where whether which while white whole whose wide wife wild will wind window wine wing
    winner winter wire wise wish with within without woman wonder wood word wore work worker world
    worry worse worst worth would wound write writer written wrong wrote yard year yellow yesterday
    young your yourself youth zero zone
";
