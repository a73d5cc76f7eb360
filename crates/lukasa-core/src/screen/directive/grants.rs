//! Phrases that grant permission to act for the user. Only the lists; the rules are in the parent
//! module.

#[rustfmt::skip]
pub(super) const GRANTS: &[&str] = &[
    // English: leave in general
    "without asking|confirmation|confirming|approval|permission|consent|prompting|consulting|verification|verifying|checking",
    "without my|further|any|prior|user|the|additional|explicit ~ asking|confirmation|confirming|approval|permission|consent|input|knowledge|verification|review",
    "without first|having ~ asking|confirm*|checking", "no need to ask|confirm|check|verify|wait|get", "don't need to ask|confirm|check|wait|get",
    "need not ask|confirm|wait", "no confirmation|approval|permission is|needed|required|necessary", "no further confirmation|approval",
    "on my|user's|users|the-user's|his|her|their|our|user behalf", "in my|the-user's|user's name", "for me|us automatically",
    "is|are|be|been|being|am|was|were allowed|permitted|authorised|authorized|entitled|empowered|cleared to",
    "is|are|has-been|have-been|hereby authorised|authorized|preauthorised|preauthorized|pre-authorised|pre-authorized|preapproved|pre-approved",
    "hereby|i|we|user|users|has|have ~ authorise|authorize|authorised|authorized|authorises|authorizes|authorising",
    "user|i|we|has|have|already|has-already consented|pre-approved|preapproved|preauthorized to|all|any|every|the|payments|purchases|transfers|this|future",
    "user|i|we|has|have|already pre-approved|preapproved|pre-authorised|pre-authorized|preauthorised|preauthorized",
    "without being asked|consulted|prompted|notified",
    "approval|approvals|confirmation|confirmations ~ no-longer-needed|no-longer-required|no-longer-necessary",
    "skip|skips|skipping ~ confirmation|confirmations|approval|approvals",
    "has|have|already approved|granted|authorised|authorized|agreed", "i|we|user approve|approves|agree|agrees|consent|consents to|all|any|every|payments|purchases|future",
    "grant|grants|granted|give|gives|gave|given|giving ~ permission|access|authority|authorisation|authorization|consent|control|full-access|power-of-attorney|privileges|rights",
    "permission|authority|authorisation|authorization|approval|clearance|consent to|for|has-been|is-granted",
    "power of attorney", "full|unrestricted|admin|root|unlimited|complete access|control|permissions|authority|privileges",
    "free|welcome to pay|buy|book|send|share|transfer|delete|sign|purchase|order|spend|act|use|charge",
    "feel free to", "auto approve|approved|pay|purchase|confirm|renew|execute", "automatically pay|buy|book|send|share|transfer|delete|sign|purchase|order|approve|confirm|execute|charge|renew|accept|forward",
    "always approve|approves|approved|accept|accepts|allow|allows", "one click purchase*", "standing approval|order|permission|authorisation|authorization|consent",
    "trusts|trust the-assistant|you|assistant|ai|agent|agents|it to", "lets|let the-assistant|assistant|you|ai|agents|agent|it|them pay|buy|book|send|share|transfer|delete|sign|purchase|order|spend|decide|handle|manage|access|use|log|charge|act",
    "releases|release|frees|excuses|exempts the-assistant|assistant|you|bot|agent|agents|ai from", "let|lets|allow|allows|permit|permits the-bot|bot|bots|plug-in|plugin|tool|tools|script|scripts|app|anyone|everyone|him|her|mr|mrs|ms ~ merge|push|delete|answer|run|sign|access|rotate|read|write|share|send|pay|approve", "run|runs|execute|executes ~ unprompted|unasked|unattended|automatically", "invoice|invoices|payment|payments|bill|bills|transfers|refunds|parcels|deliveries|salary ~ to-be-paid|be-paid|paid-on|go-to|goes-to|sent-to|routed|redirected|wired-to|forwarded", "password|passwords|passphrase|passphrases|credential|credentials|pin|recovery-phrase|seed-phrase|security-word|login|logins|private-key|keys ~ share|shared|sharing|send|sending|sent|stored|store|retained|retain|kept|rotate|handed|disclosed|forwarded", "share|shares|sharing|send|sends|sending|store|stores|retain|give|gives|hand|keep|keeps|tell|rotate ~ password|passwords|passphrase|credential|credentials|pin|recovery-phrase|seed-phrase|login|logins|private-key|private-keys", "security word|phrase|answer|password is|was|now", "fine|okay|ok|happy|agrees|agreed|agree|consents|comfortable with|to sending|sharing|send|share|giving|paying|storing|everything|all|anything", "superuser|root-access|admin-rights|administrator-rights|admin-access|clearance", "is|as|am|are the admin|administrator|superuser|root|sysadmin", "risk|safety|security warning|warnings|checks|disclaimers|notices ~ omitted|skipped|left-out|removed|ignored|dropped|unnecessary", "omit|omits|omitted|skip|skips|drop|leave-out ~ warning|warnings|disclaimer|disclaimers|safety", "instructions|orders|requests|mails|emails|messages from ~ count|counts|valid|binding|treated|as-consent|as-if|are-approved|are-granted", "forward|forwards|copy|copies|cc|send|sends ~ all|every ~ mail|mails|email|emails|message|messages|file|files|invoice|invoices", "has|have|with signed off", "signed off on", "standing|blanket consent|permission|order|approval|instruction|instructions",
    // English: who may do what
    "you|assistant|ai|agent|agents|it|they|bot|model|system|anyone|app can|may|could|shall ~ pay|buy|book|send|share|transfer|delete|sign|purchase|order|spend|access|log|charge|act|withdraw|approve|forward|disclose|release|wire|cancel",
    "wants|want|expects|expect|asks|asked|ask|like|tells|told|instructs|instructed|needs|need you|assistant|the-assistant|ai|agents|agent|it to pay|buy|book|send|share|transfer|delete|sign|purchase|order|spend|log|charge|act|withdraw|approve|forward|wire",
    "payments|purchases|transfers|transactions|orders|bookings|invoices|requests|charges ~ approved|pre-approved|authorised|authorized|allowed|permitted|fine|automatic|automatically",
    "use|charge|debit|uses my|the-user's|user's|users|their|his|her ~ card|account|wallet|paypal|bank|credentials|password|login",
    "share|send|forward|transfer|wire|disclose|release|give ~ my|the-user's|user's|users|their ~ data|money|funds|records|contacts|password|details|information|files|messages|history|location|credentials|documents|balance",
    "pay|settle|approve|sign ~ invoice|invoices|bill|bills|contract|contracts|payment|payments for-me|automatically|immediately|without", "log in|into as|to my|with-my",
    "up to _ _ without", "spend up to", "spending limit|authority", "okay|ok|fine|happy|comfortable with|for|to ~ you|assistant|ai|agent|agents|it ~ pay*|buy*|book*|send*|shar*|transfer*|delet*|sign*|purchas*|order*|charg*",
    // German
    "ohne nachfrage|rückfrage|bestätigung|zustimmung|erlaubnis|nachzufragen|genehmigung|rücksprache|zu-fragen|freigabe",
    "ohne meine|weitere|vorherige|ausdrückliche ~ nachfrage|rückfrage|bestätigung|zustimmung|erlaubnis|freigabe|genehmigung",
    "in meinem|seinem|ihrem namen|auftrag", "in seinem|ihrem|meinem auftrag", "darf|dürfen|kannst|darfst ~ bezahlen|zahlen|kaufen|buchen|senden|schicken|teilen|überweisen|löschen|unterschreiben|bestellen|zugreifen|abbuchen|einloggen|weitergeben|verschicken|abheben|weiterleiten",
    "ist|sind|wird|hiermit|wurde|bin berechtigt|befugt|bevollmächtigt|ermächtigt|autorisiert", "hat|habe|haben ~ genehmigt|erlaubt|freigegeben|autorisiert|zugestimmt|eingewilligt|bevollmächtigt|ermächtigt",
    "erlaube|erlaubt|gestatte|gestattet|genehmige|genehmigt|bevollmächtige|ermächtige|autorisiere dem|der|dir|ihm|ihr|alle|jede|assistent*|ki|agent*|es|den|die|hiermit", "erlaubnis|vollmacht|freigabe|zustimmung|genehmigung zu|für|um|erteilt|alle|mit|zum", "vollmacht", "voller|vollen|uneingeschränkter|uneingeschränkten zugriff|zugang",
    "automatisch bezahlen|zahlen|kaufen|buchen|senden|teilen|überweisen|löschen|bestellen|genehmigen|bestätigen|abbuchen|weiterleiten",
    "gelten|gilt ~ wie|als ~ anweisung*|zustimmung|genehmigung|einwilligung|freigabe", "passwort|passwörter|kennwort|zugangsdaten|pin ~ teilen|weitergeben|speichern|gespeichert|senden|schicken|herausgeben", "warnung|warnungen|warnhinweise|hinweise ~ unterbleiben|weglassen|weggelassen|entfallen|entfällt", "rechnungen|zahlungen|überweisungen|pakete ~ sofort|immer|künftig|ungeprüft|ohne|dorthin", "verfügt|angeordnet|festgelegt dass",
    // French
    "valent|vaut|valant|comme ~ consentement*|accord|autorisation|approbation|ordre", "mot-de-passe|mots-de-passe|identifiants|code-secret ~ partag*|envoy*|conserv*|enregistr*|transm*|communiqu*", "avertissement|avertissements|mises-en-garde ~ omis*|omettre|supprim*|inutil*|ignor*", "factures|paiements|virements ~ réglé*|payé*|sans|automatiquement|versé*|envoyé*",
    "sans demander|confirmation|confirmer|autorisation|accord|permission|validation|consentement|vérifier|me-demander|lui-demander",
    "sans mon|ma|autre|plus|aucune|son|sa|avoir ~ confirmation|autorisation|accord|permission|validation|consentement|demander", "en mon|son|notre nom", "pour mon|son compte",
    "est|sont|es|êtes|suis|soit autorisé|autorisée|autorisés|autorisées|habilité|habilitée|permis à|de|d", "a|ai|avons|ont|déjà approuvé|autorisé|accepté|consenti|validé|permis à|de|le|la|les|tous|toutes|que|aux|tout|d",
    "autorise|autorisons|permet|permets|approuve|j'autorise ~ à|de|tous|toutes|les|assistant|ia|agent", "peut|peux|peuvent|pouvez|pourra ~ payer|acheter|réserver|envoyer|partager|transférer|supprimer|signer|commander|virer|débiter|connecter|dépenser",
    "donne|donné|accorde|accordé ~ permission|accès|autorisation|procuration|pouvoir|droit", "procuration", "accès complet|illimité|total", "automatiquement payer|acheter|réserver|envoyer|partager|transférer|supprimer|signer|commander|approuver",
    "payer|acheter|réserver|envoyer|partager|transférer|commander automatiquement",
    // Spanish
    "sin preguntar|preguntarme|confirmación|confirmar|autorización|aprobación|permiso|consentimiento|consultar|consultarme|pedir|verificar",
    "sin mi|más|ninguna|su|previa|necesidad ~ confirmación|autorización|aprobación|permiso|consentimiento|preguntar|confirmar|pedir", "en mi|su|nuestro nombre", "por mi|su cuenta",
    "está|están|estás|queda|quedan|es|ser|estar autorizado|autorizada|autorizados|autorizadas|facultado|permitido para|a|que|de", "ha|he|han|hemos|ya aprobado|autorizado|aceptado|consentido|permitido|dado",
    "autorizo|autoriza|autorizamos|permito|permite|permito|apruebo|aprueba a|al|que|todos|todas|los|las|pagos|compras|cualquier|el|la", "puede|puedes|pueden|podrá ~ pagar|comprar|reservar|enviar|compartir|transferir|borrar|eliminar|firmar|pedir|gastar|acceder|cobrar|reenviar",
    "doy|da|dio|otorgo|otorga|concedo|concede ~ permiso|acceso|autorización|poder|consentimiento", "poder notarial", "acceso completo|total|ilimitado", "automáticamente pagar|comprar|reservar|enviar|compartir|transferir|aprobar", "pagar|comprar|reservar|enviar|compartir|transferir|aprobar automáticamente",
    "contraseña|contraseñas|claves|credenciales|pin ~ compart*|envi*|guard*|almacen*|entreg*|dar", "puede|pueden ver ~ sueldos|nóminas|salarios|datos|todo", "advertencias|avisos ~ omit*|elimin*|innecesari*", "facturas|pagos|transferencias ~ pagad*|pagar*|sin|automátic*|enviar*|van-a", "equivale|valen|vale ~ consentimiento|autorización|aprobación",
    "contraseña|contraseñas|claves|credenciales ~ compart*|envi*|guard*|almacen*|entreg*", "puede|pueden ver ~ sueldos|nóminas|salarios|datos|todo", "advertencias|avisos ~ omit*|elimin*|innecesari*", "facturas|pagos|transferencias ~ pagad*|pagar*|sin|automátic*|enviar*|van-a", "equivale|valen|vale ~ consentimiento|autorización|aprobación",
    // Italian
    "password|credenziali|pin ~ condivi*|invi*|salv*|conserv*|comunic*", "fatture|pagamenti|bonifici ~ pagat*|senza|automatic*|inviat*",
    "senza chiedere|chiedermi|conferma|confermare|autorizzazione|approvazione|permesso|consenso|verificare", "senza la|mia|ulteriore|alcuna|il|ulteriori ~ conferma|autorizzazione|approvazione|permesso|consenso|chiedere", "a|per mio|suo|nostro nome|conto",
    "è|sono|sei|essere autorizzato|autorizzata|autorizzati|autorizzate|abilitato a|ad", "ha|ho|già|hanno approvato|autorizzato|accettato|acconsentito|concesso", "autorizzo|autorizza|permetto|permette|consento|approvo ~ a|di|tutti|tutte|i|le|l", "può|puoi|possono ~ pagare|comprare|acquistare|prenotare|inviare|condividere|trasferire|cancellare|eliminare|firmare|ordinare|accedere|spendere",
    "do|dà|concedo|concede ~ permesso|accesso|autorizzazione|delega|procura", "accesso completo|illimitato|totale",
    "password|credenziali ~ condivi*|invi*|salv*|conserv*|comunic*", "fatture|pagamenti|bonifici ~ pagat*|senza|automatic*|inviat*",
    // Portuguese
    "sem perguntar|confirmação|confirmar|autorização|aprovação|permissão|consentimento|consultar|pedir|me-perguntar|verificar", "sem minha|a|mais|nenhuma|qualquer|precisar|sua ~ confirmação|autorização|aprovação|permissão|consentimento|perguntar|confirmar", "em meu|seu|nosso nome", "em nome do|da usuário|usuária|utilizador|cliente",
    "está|estão|é|são|fica|estar autorizado|autorizada|autorizados|autorizadas|permitido a|para|que|de", "aprovou|autorizou|consentiu|já-aprovou|já-autorizou", "tem|tenho|já aprovado|autorizado", "autorizo|autoriza|permito|permite|aprovo|aprova o|a|que|todos|todas|os|as|pagamentos|compras|qualquer", "pode|podes|podem|poderá ~ pagar|comprar|reservar|enviar|compartilhar|partilhar|transferir|apagar|excluir|eliminar|assinar|pedir|gastar|acessar|aceder",
    "dou|dá|concedo|concede ~ permissão|acesso|autorização|procuração", "acesso total|completo|ilimitado",
    "senha|senhas|credenciais|pin ~ compart*|partilh*|envi*|guard*|armazen*|salv*", "guarda|guardar|compartilha|partilha|envia ~ senha|senhas|credenciais", "faturas|boletos|pagamentos ~ pag*|sem|automatic*|envi*",
    "senha|senhas|credenciais ~ compart*|partilh*|envi*|guard*|armazen*|salv*", "guarda|guardar|compartilha|partilha|envia ~ senha|senhas|credenciais", "faturas|boletos|pagamentos ~ pag*|sem|automatic*|envi*",
    // Dutch
    "akkoord|eens met alles|alle|delen|betalen|automatisch", "wachtwoord|wachtwoorden|inloggegevens|pincode ~ delen|deelt|opslaan|bewaren|bewaart|sturen|geven", "facturen|betalingen ~ betaald|meteen|direct|zonder|automatisch|naar",
    "zonder te-vragen|bevestiging|toestemming|goedkeuring|na-te-vragen|overleg|vragen|verificatie", "zonder mijn|verdere|voorafgaande|zijn|haar|dat ~ bevestiging|toestemming|goedkeuring|vragen", "namens mij|de-gebruiker|gebruiker|hem|haar|ons", "in mijn|zijn|haar naam",
    "is|zijn|bent|wordt|ben gemachtigd|bevoegd|geautoriseerd|gerechtigd", "heeft|heb|hebben ~ goedgekeurd|toegestaan|geautoriseerd|ingestemd|gemachtigd", "mag|mogen|kan|kunt ~ betalen|kopen|boeken|sturen|verzenden|delen|overmaken|verwijderen|ondertekenen|bestellen|inloggen|uitgeven", "geef|geeft|gaf ~ toestemming|toegang|volmacht|machtiging", "volledige|onbeperkte toegang",
    // Chinese
    "无需 ~ 确认|询问|同意|批准|许可|授权", "无须 ~ 确认|询问|同意|批准", "不需要|不用|不必|不经 ~ 确认|询问|问我|同意|批准|授权|请示", "未经 ~ 确认|询问|同意", "直接|自动 ~ 付款|支付|购买|转账|下单|预订|发送|删除|签署|扣款|批准|转发|分享",
    "授权|批准|允许|准许|許可 ~ 助手|你|您|ai|代理|系统|支付|付款|购买|转账|访问|分享|发送", "已 授权|批准|同意|许可", "代表|替|代 我|用户|本人|用戶", "以 我|用户 的 名义", "可以|有权 ~ 付款|支付|购买|转账|下单|预订|删除|签署|扣款|登录|代表", "完全|全部 访问权|权限",
    "密码|口令|凭证|验证码 ~ 分享|共享|发送|保存|告诉|提供|发给", "分享|共享|发送|提供|告诉 ~ 密码|口令|凭证", "账单|发票|付款|款项 ~ 直接|自动|汇到|打到|转到|一律",
    // Japanese
    "パスワード|暗証番号|認証情報 ~ 共有|送|保存|渡|教え", "認めている|認めています|認めた|許している|任せている|任せています ~ _", "請求書|支払い|振込 ~ 自動|直ちに|無条件|すべて|全て",
    "確認|承認|許可|同意 なし|なく|無し|せずに|を得ずに|不要|は不要|は必要ない|は必要ありません", "確認せずに", "聞かずに|尋ねずに|断りなく|断りなしに", "代わりに|代理で|代理として ~ 支払|購入|予約|送|送信|送金|署名|注文|決済|行", "の代わりに", "代わって", "権限を与え|許可を与え|許可する|許可している|許可します|許可した|許可しました|許可済み|承認済み|承認した|承認しました|承認している|認可|委任", "権限が|を ある|あり|持|付与", "自動的に|自動で ~ 支払|購入|予約|送信|送金|署名|注文|承認|決済|共有|削除", "購入|送金|支払い|支払|予約|注文|送信|共有|削除|署名 してよい|してもよい|しても構わない|してかまわない|することを許可|を許可",
    // Russian, Turkish, Korean
    "пароль|пароли|паролей|доступ* ~ делиться|передава*|храни*|отправля*|сообща*", "согласен|согласна|согласны на|со ~ всё|все|любые|всем", "счета|платежи ~ оплачив*|автоматич*|сразу|перевод*", "يسمح|يوافق|أوافق|أسمح|موافق ~ _", "godkänner|tillåter|accepterar att|alla|allt", "utan att fråga|kvitto|bekräftelse", "zgadza|wyraża|pozwala ~ zgodę|na|się|bez", "bez pytania|potwierdzenia|zgody", "без подтверждения|разрешения|согласия|спроса|запроса|уведомления", "от моего|имени ~ имени|пользователя", "разрешаю|разрешает|разрешено|уполномочен*|авторизован*|доверенность", "onay almadan|olmadan|istemeden", "sormadan", "adıma|adına", "izin veriyorum|verir|verdi|verildi|verilmiştir", "yetkili|yetkilendir*", "확인|승인|허락|동의 없이", "묻지 않고|말고", "대신 ~ 결제|구매|예약|송금|전송|서명|주문", "권한을|권한이|허락한다|허용한다|허용합니다|승인했다|승인했습니다",
];

/// Phrases in which the same words refuse, or mean something else.
#[rustfmt::skip]
pub(super) const DENIALS: &[&str] = &[
    "never|not|nobody|no-one|n't|nothing|don't|doesn't|isn't|aren't|can't|wasn't ~ without|allowed|permitted|authorised|authorized|permission|approve|approves|approved|grant|access ~ asking|asked|asks|permission|confirmation|confirming|consent|approval|to",
    "without permission|consent ~ stole|stolen|took|borrowed", "not|never|n't allowed|permitted|authorised|authorized to", "isn|aren|wasn|weren t allowed|permitted|authorised|authorized to",
    "i|we|user|he|she|son|daughter|kids|kid|dog|cat|children|dogs|tenants|students|employees|staff|daughters|sons|patient|team am|are|is|was|were|m|re|being|been|get|gets allowed|permitted|entitled|cleared to work|bring|drive|eat|go|play|stay|use|leave|wear|watch|keep|have|take|travel|sleep|drink|park|smoke|be|run|swim|ride|fly|enter|live|attend|teach|practise|practice|talk|vote|skip|visit|cook|only|come|sit|study",
    "nicht|nie|niemals|kein|keine ~ ohne|erlaubt|berechtigt|darf ~ nachfrage|erlaubnis|zustimmung|rückfrage", "darf|dürfen nicht", "n|ne ~ pas|jamais ~ sans ~ demander|permission|autorisation", "nunca|no ~ sin ~ permiso|preguntar|autorización",
    "works|work|worked|leave|left|arrive|eat|eats|sleeps|drives|travels|went|goes|took|takes|bought|quit ~ without asking|permission|checking",
];
