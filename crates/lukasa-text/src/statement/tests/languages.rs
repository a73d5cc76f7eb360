//! Statements in languages other than English: the content is in the user's words.

use super::*;

#[test]
fn german_statements_are_found() {
    check(&[
        ("Bitte merk dir, dass ich gern Zug fahre.", Remember, "Ich fahre gern Zug."),
        ("Vergiss nicht, dass meine Schwester Ana heißt", Remember, "Meine Schwester Ana heißt."),
        ("Vergiss, dass ich Marta besuche.", Forget, "Ich Marta besuche."),
        ("Bitte vergiss meine Adresse", Forget, "Meine Adresse."),
        ("Nein, ich wohne in Porto.", Correct, "Ich wohne in Porto."),
        ("Ich bin keine Krankenschwester, ich bin Lehrerin.", Correct, "Ich bin Lehrerin."),
        (
            "Ich bin letzte Woche nach Lyon gezogen.",
            Change,
            "Ich bin letzte Woche nach Lyon gezogen.",
        ),
        ("Ich esse kein Fleisch mehr", Change, "Ich esse kein Fleisch mehr."),
        ("Antworte immer auf Deutsch.", Rule, "Antworte immer auf Deutsch."),
        ("Nenn mich Ana.", CallMe, "Nenn mich Ana."),
        ("Ich heiße Jonas", CallMe, "Ich heiße Jonas."),
    ]);
    check_none(&[
        "Ich merke mir das.",
        "Vergiss es.",
        "Vergiss nicht, Anna anzurufen.",
        "Ich vergesse immer Namen.",
        "Antworte auf Deutsch.",
        "Er sagte, merk dir, dass ich spät komme.",
        "Nenn mich verrückt.",
        "Wohne ich in Porto?",
    ]);
}

#[test]
fn french_statements_are_found() {
    check(&[
        ("Souviens-toi que je préfère le train.", Remember, "Je préfère le train."),
        ("N'oublie pas que ma sœur s'appelle Ana", Remember, "Ma sœur s'appelle Ana."),
        ("Oublie que je rends visite à Marta.", Forget, "Je rends visite à Marta."),
        ("Oublie mon adresse, s'il te plaît", Forget, "Mon adresse."),
        ("Non, j'habite à Porto.", Correct, "J'habite à Porto."),
        ("Je ne suis pas infirmière, je suis professeure.", Correct, "Je suis professeure."),
        ("J'ai déménagé à Lyon.", Change, "J'ai déménagé à Lyon."),
        ("Je ne mange plus de viande", Change, "Je ne mange plus de viande."),
        ("Réponds toujours en français.", Rule, "Réponds toujours en français."),
        ("Appelle-moi Ana.", CallMe, "Appelle-moi Ana."),
    ]);
    check_none(&[
        "Je me souviens que tu aimes le thé.",
        "Oublie ça.",
        "N'oublie pas de téléphoner à Anna.",
        "Réponds en français.",
        "Appelle-moi quand tu as fini.",
        "Il a dit : oublie que je viens.",
    ]);
}

#[test]
fn spanish_statements_are_found() {
    check(&[
        ("Por favor, recuerda que prefiero el tren.", Remember, "Prefiero el tren."),
        ("No olvides que mi hermana se llama Ana", Remember, "Mi hermana se llama Ana."),
        ("Olvida que tengo un perro.", Forget, "Tengo un perro."),
        ("Olvida mi dirección, por favor", Forget, "Mi dirección."),
        ("No, vivo en Oporto.", Correct, "Vivo en Oporto."),
        ("No soy enfermera, soy fisioterapeuta.", Correct, "Soy fisioterapeuta."),
        ("Me mudé a Lyon.", Change, "Me mudé a Lyon."),
        ("Ya no como carne", Change, "Ya no como carne."),
        ("Responde siempre en español.", Rule, "Responde siempre en español."),
        ("Nunca uses emojis", Rule, "Nunca uses emojis."),
        ("Llámame Ana.", CallMe, "Llámame Ana."),
    ]);
    check_none(&[
        "¿Recuerdas que vivo en Oporto?",
        "Olvídalo.",
        "Recuerda cuando fuimos a Roma",
        "Responde en español.",
        "Llámame cuando termines.",
        "Nunca he estado allí.",
        "No vivo en Madrid.",
    ]);
}

#[test]
fn italian_statements_are_found() {
    check(&[
        ("Ricorda che preferisco il treno.", Remember, "Preferisco il treno."),
        ("Non dimenticare che mia sorella si chiama Ana", Remember, "Mia sorella si chiama Ana."),
        ("Dimentica che ho un cane.", Forget, "Ho un cane."),
        ("No, vivo a Porto.", Correct, "Vivo a Porto."),
        ("Non sono infermiera, sono insegnante.", Correct, "Sono insegnante."),
        ("Mi sono trasferita a Lione.", Change, "Mi sono trasferita a Lione."),
        ("Non mangio più carne", Change, "Non mangio più carne."),
        ("Rispondi sempre in italiano.", Rule, "Rispondi sempre in italiano."),
        ("Chiamami Ana.", CallMe, "Chiamami Ana."),
    ]);
    check_none(&[
        "Ricordi che vivo a Porto?",
        "Dimenticalo.",
        "Rispondi in italiano.",
        "Chiamami quando hai finito.",
        "Ricordati di chiamare Anna.",
    ]);
}

#[test]
fn portuguese_statements_are_found() {
    check(&[
        ("Lembra-te que prefiro o comboio.", Remember, "Prefiro o comboio."),
        ("Não esqueça que minha irmã se chama Ana", Remember, "Minha irmã se chama Ana."),
        ("Esquece que tenho um cão.", Forget, "Tenho um cão."),
        ("Esqueça meu endereço, por favor", Forget, "Meu endereço."),
        ("Não, moro em Lisboa.", Correct, "Moro em Lisboa."),
        ("Não sou enfermeira, sou fisioterapeuta.", Correct, "Sou fisioterapeuta."),
        ("Mudei-me para Lyon.", Change, "Mudei-me para Lyon."),
        ("Já não como carne", Change, "Já não como carne."),
        ("Responda sempre em português.", Rule, "Responda sempre em português."),
        ("Meu nome é Ana.", CallMe, "Meu nome é Ana."),
    ]);
    check_none(&[
        "Lembras-te que moro em Lisboa?",
        "Esquece isso.",
        "Responda em português.",
        "Nunca fui lá.",
        "Ele disse que se mudou para Lyon.",
    ]);
}

#[test]
fn dutch_statements_are_found() {
    check(&[
        ("Onthoud dat ik liever met de trein reis.", Remember, "Ik reis liever met de trein."),
        ("Vergeet niet dat mijn zus Ana heet", Remember, "Mijn zus Ana heet."),
        ("Vergeet dat ik Marta bezoek.", Forget, "Ik Marta bezoek."),
        ("Vergeet mijn adres", Forget, "Mijn adres."),
        ("Nee, ik woon in Porto.", Correct, "Ik woon in Porto."),
        ("Ik ben geen verpleegster, ik ben lerares.", Correct, "Ik ben lerares."),
        ("Ik ben naar Lyon verhuisd.", Change, "Ik ben naar Lyon verhuisd."),
        ("Ik eet geen vlees meer", Change, "Ik eet geen vlees meer."),
        ("Antwoord altijd in het Nederlands.", Rule, "Antwoord altijd in het Nederlands."),
        ("Noem me Ana.", CallMe, "Noem me Ana."),
    ]);
    check_none(&[
        "Vergeet het.",
        "Vergeet niet om Anna te bellen.",
        "Antwoord in het Nederlands.",
        "Ik vergeet altijd namen.",
    ]);
}

#[test]
fn polish_statements_are_found() {
    check(&[
        ("Zapamiętaj, że moja siostra ma na imię Ana.", Remember, "Moja siostra ma na imię Ana."),
        ("Pamiętaj, że mieszkam w Krakowie", Remember, "Mieszkam w Krakowie."),
        ("Zapomnij, że mieszkam w Krakowie.", Forget, "Mieszkam w Krakowie."),
        ("Nie, mieszkam w Porto.", Correct, "Mieszkam w Porto."),
        ("Nie jestem pielęgniarką, jestem nauczycielką.", Correct, "Jestem nauczycielką."),
        ("Przeprowadziłam się do Lyonu.", Change, "Przeprowadziłam się do Lyonu."),
        ("Już nie jem mięsa", Change, "Już nie jem mięsa."),
        ("Zawsze odpowiadaj po polsku.", Rule, "Zawsze odpowiadaj po polsku."),
        ("Mów mi Ania.", CallMe, "Mów mi Ania."),
    ]);
    check_none(&[
        "Pamiętasz, że mieszkam w Krakowie?",
        "Zapomnij o tym.",
        "Odpowiadaj po polsku.",
        "Nigdy nie byłem w Porto.",
        "Pamiętaj, żeby zadzwonić do Anny.",
    ]);
}

#[test]
fn russian_statements_are_found() {
    check(&[
        ("Запомни, что я предпочитаю поезд.", Remember, "Я предпочитаю поезд."),
        ("Не забудь, что моя сестра учится в Лионе", Remember, "Моя сестра учится в Лионе."),
        ("Забудь, что я хожу к Марте.", Forget, "Я хожу к Марте."),
        ("Забудь мой адрес, пожалуйста", Forget, "Мой адрес."),
        ("Нет, я живу в Порту.", Correct, "Я живу в Порту."),
        ("Я не медсестра, я физиотерапевт.", Correct, "Я физиотерапевт."),
        ("Я переехала в Лион.", Change, "Я переехала в Лион."),
        ("Я больше не ем мясо", Change, "Я больше не ем мясо."),
        ("Всегда отвечай по-русски.", Rule, "Всегда отвечай по-русски."),
        ("Зови меня Аня.", CallMe, "Зови меня Аня."),
    ]);
    check_none(&[
        "Ты помнишь, что я живу в Порту?",
        "Забудь об этом.",
        "Отвечай по-русски.",
        "Он сказал: запомни, что я опаздываю.",
    ]);
}

#[test]
fn chinese_statements_are_found() {
    check(&[
        ("请记住我喜欢坐火车。", Remember, "我喜欢坐火车。"),
        ("别忘了我姐姐叫安娜", Remember, "我姐姐叫安娜。"),
        ("请忘记我的地址。", Forget, "我的地址。"),
        ("不，我住在上海。", Correct, "我住在上海。"),
        ("我不是护士，我是老师。", Correct, "我是老师。"),
        ("我搬到里昂了。", Change, "我搬到里昂了。"),
        ("我不再吃肉", Change, "我不再吃肉。"),
        ("从现在起请用中文回答。", Rule, "从现在起请用中文回答。"),
        ("叫我小安。", CallMe, "叫我小安。"),
    ]);
    check_none(&[
        "你记得我住在哪里吗？",
        "忘了吧。",
        "请用中文回答。",
        "记得买牛奶。",
        "他说记住我很忙。",
    ]);
}

#[test]
fn japanese_statements_are_found() {
    check(&[
        ("私は電車が好きだと覚えておいてください。", Remember, "私は電車が好きだ。"),
        ("姉の名前はアナだということを覚えておいて", Remember, "姉の名前はアナだ。"),
        ("私がマルタを訪ねることを忘れてください。", Forget, "私がマルタを訪ねる。"),
        ("いいえ、私は東京に住んでいます。", Correct, "私は東京に住んでいます。"),
        ("私は看護師ではなく、教師です。", Correct, "私は教師です。"),
        ("リヨンに引っ越しました。", Change, "リヨンに引っ越しました。"),
        ("もう肉を食べません", Change, "もう肉を食べません。"),
        ("いつも日本語で答えてください。", Rule, "いつも日本語で答えてください。"),
        ("アナと呼んでください。", CallMe, "アナと呼んでください。"),
    ]);
    check_none(&[
        "私が東京に住んでいることを覚えていますか？",
        "妹はリヨンに引っ越しました。",
        "日本語で答えてください。",
        "名前を忘れてしまいました。",
    ]);
}

#[test]
fn korean_statements_are_found() {
    check(&[
        ("제가 기차를 좋아한다는 것을 기억해 주세요.", Remember, "제가 기차를 좋아한다는."),
        ("제 동생 이름이 아나라고 기억해줘", Remember, "제 동생 이름이 아나라고."),
        ("제가 마르타를 만난다는 것을 잊어 주세요.", Forget, "제가 마르타를 만난다는."),
        ("아니요, 저는 부산에 살아요.", Correct, "저는 부산에 살아요."),
        ("저는 간호사가 아니라 교사예요.", Correct, "저는 교사예요."),
        ("리옹으로 이사했어요.", Change, "리옹으로 이사했어요."),
        ("더 이상 고기를 먹지 않아요", Change, "더 이상 고기를 먹지 않아요."),
        ("항상 한국어로 대답해 주세요.", Rule, "항상 한국어로 대답해 주세요."),
        ("제 이름은 아나예요", CallMe, "제 이름은 아나예요."),
    ]);
    check_none(&[
        "제가 부산에 산다는 것을 기억해요?",
        "여동생은 리옹으로 이사했어요.",
        "한국어로 대답해 주세요.",
        "저는 항상 이름을 잊어요.",
    ]);
}

#[test]
fn requests_to_forget_a_topic_are_found_in_other_languages() {
    check(&[
        ("Borra lo de la fiesta sorpresa, se ha cancelado", Forget, "La fiesta sorpresa."),
        ("Ya puedes olvidar mi dirección.", Forget, "Mi dirección."),
        ("Esquece a minha morada, prefiro que não a guardes.", Forget, "Minha morada."),
        ("Lösch bitte alles zu Zitronenfalter aus deinem Gedächtnis", Forget, "Zitronenfalter."),
        ("Oublie tout sur mon ancien chef.", Forget, "Mon ancien chef."),
        ("Dimentica tutto sul corso di ceramica.", Forget, "Corso di ceramica."),
        ("Vergeet alles over de verbouwing van de keuken.", Forget, "De verbouwing van de keuken."),
    ]);
    check_none(&[
        "Lösch alles über den Hund aus dem Entwurf.",
        "Borra todo sobre el perro de la carta.",
        "Vergiss es.",
    ]);
}

#[test]
fn subordinate_clause_becomes_a_main_clause() {
    check(&[
        (
            "Merk dir, dass ich Größe 46 habe, das weiß niemand.",
            Remember,
            "Ich habe Größe 46, das weiß niemand.",
        ),
        ("Merk dir, dass ich um sechs aufstehe.", Remember, "Ich um sechs aufstehe."),
    ]);
}
