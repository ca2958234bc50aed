// What receiving servers say in words, by reason. classify.ts tries the rules in this order; the
// first that matches wins, so a reply that names both DMARC and a spam filter is about DMARC.
// Sources: the postmaster pages of Gmail, Outlook, Yahoo, iCloud, GMX and mail.ru, the sources of
// Postfix, Exim, sendmail and qmail, and published bounce corpora. Texts arrive in lower case,
// without addresses, with single spaces, at most a few thousand characters long.
import type { Reason } from '../events/reasons.ts';

export interface TextRule {
  reason: Reason;
  /** Strong words beat every code; weak ones only codes that servers use for everything. */
  strong: boolean;
  pattern: RegExp;
}

const strong = (reason: Reason, ...sources: string[]): TextRule => rule(reason, true, sources);
const weak = (reason: Reason, ...sources: string[]): TextRule => rule(reason, false, sources);

/**
 * One alternation per rule. `…` stands for up to 60 characters in the same sentence, so no match
 * can run away.
 */
function rule(reason: Reason, isStrong: boolean, sources: string[]): TextRule {
  const source = sources.join('|').replaceAll('…', '[^.;]{0,60}?');
  return { reason, strong: isStrong, pattern: new RegExp(source, 'u') };
}

// Nouns for who should have got the email.
const USER = `(?:users?|recipients?|mail ?box(?:es)?|mail-box|accounts?|address(?:es|ee)?|alias|e-?mail(?: address| account| name)?|local[- ]?part|person|rcpt|login|member|forwarder)`;
const NO = `(?:does ?n[o']t|do(?:es)? not|did not|is not|isn't|are not|was not|wasn't|not|can ?not be|could not be|couldn't be|no longer)`;

export const TEXT_RULES: readonly TextRule[] = [
  // The relay itself held it back: SES, SparkPost, Mailgun, SendGrid, Postmark.
  strong(
    'suppressed',
    'suppression list',
    'suppressed (?:sending|due to|recipient|address)',
    'recipient(?: address)?(?: is| was| has been)? suppressed',
    'previously (?:hard )?bounced',
    '(?:bounced|unsubscribed|spam reporting) address(?:$| ignored| -)',
    'not delivering to (?:a |an )?(?:previously|unsubscribed|user who)',
    'user who marked your messages as spam',
    'unsubscribed (?:address|recipient)',
    'marked as inactive…(?:hard bounce|complaint)',
    'recent history of bouncing',
  ),
  strong(
    'loop',
    '(?:mail|routing|forwarding|message|delivery) loop',
    'loops? back to (?:myself|me|itself)',
    'too many hops',
    'hop ?count exceeded',
    'exceeded \\d+ hops',
    'maximum hop count',
    'too many "?received:?"?(?: header| line)',
    '(?:is|message) looping',
    'already has my delivered-to',
    'points? back to',
    'aliasing/forwarding loop',
    'maillooperror|\\bp=mailloop\\b',
    'loop was found|loop detected',
  ),
  strong('content', 'duplicate header'),
  strong('greylisted', 'gr[ae]y-? ?list', 'postgrey', 'grey\\.rbl'),
  // "Not permitted to relay … SMTP authentication turned on" is about relaying, so this comes
  // before authentication.
  strong(
    'relay-denied',
    'relay(?:ing)?(?: access| mail| of mail)?(?: is| was| to…|…)? ?(?:denied|prohibited|forbidden|not (?:permitted|allowed|authorized)|disallowed|refused)',
    'unable to relay',
    'unauthori[sz]ed relay',
    '(?:not permitted|not allowed|not configured|not authorized|isn.t allowed|not set up) to (?:let you )?relay',
    'no relaying',
    "(?:do|does|will) ?n[o']?t relay|cannot relay|can.t relay",
    'allowed rcpthosts?\\b|rcpthosts \\(|insecure (?:mail )?relay',
    '(?:not an|an?) open relay',
    'not a gateway',
    'as a relay,',
    'not local host',
    "(?:we|does|do)(?:n't| not)? handle mail for",
    'non-local e-?mail address',
    'specified domain is not allowed',
    'credentials for relay',
    'host is not a relay',
    'relay (?:verboten|nicht erlaubt)|weiterleitung verweigert',
  ),
  // Who the sender is. The MAIL FROM domain that cannot be found is not the recipient's.
  strong(
    'policy',
    'sender (?:address|domain|email)?…(?:domain not found|does not exist|not exist|no mx|unresolvable|could not be resolved|not found|verif)',
    'domain of sender|sender domain (?:must|does|has|is empty|listed as invalid|resolve)',
    'unresolvable (?:rfc\\.? ?5321 )?from domain|from domain must|invalid sender domain',
    'sender verify failed|verify mailfrom failed|callback setup failed',
    'unroutable sender|unrouteable sender',
    '(?:sender|sending|from)(?: e-?mail| ip| host| mail)? (?:address|domain)?(?: is| was| has been)? ?(?:rejected|denied|refused|blacklisted|blocked)',
    '\\b(?:helo|ehlo)\\b[^.;]{0,30}?(?:rejected|invalid|not found|does not|domain)',
    'no valid recipients from|no matches to nameserver',
    '^(?:[\\s:]|smtp|error)*domain does not exist:',
    'from: domain is invalid',
    // GMX, web.de and IONOS, after the words “mailbox unavailable”.
    'invalid dns mx or a/aaaa resource record',
    'your (?:e-?mail |mail |sender )?(?:domain|host ?name|host)…(?:unknown|not found|not exist|not resolve)',
    '(?:mail|messages?) from (?:an )?unknown (?:users?|senders?|hosts?|domains?)',
    'envelope sender domain must exist',
    'emetteur invalide|invalid sender|bogus mail from',
    'mail from…mismatch',
    // Reverse DNS of the sending host.
    'reverse[- ]?dns|\\brdns\\b|\\bptr\\b|reverse lookup|reverse (?:host ?name|ip)',
    'cannot find your (?:reverse )?host ?name|cannot resolve your (?:address|host)|ip name lookup failed',
    'dynamic ip|generic dns|dial-?up ip',
    // Encryption demanded.
    '(?:tls|starttls|encryption|encrypted connection|ssl)(?: is| connection)? (?:required|needed|mandatory)|must issue a starttls|requires (?:encryption|tls)|requires high-strength',
    'mta-sts|\\bdane\\b|tlsa-invalid|dnssec-invalid',
    'senders to use tls',
    // The recipient or their organisation blocked it.
    'blocked by the recipient|recipient has blocked|user (?:refuses|refused|reject)|rejected by (?:the )?recipients?\\b|recipient refuses to accept',
    'recipient preferences|user rules|personal block|envelope blocked - user',
    '(?:blocked|managed) senders? (?:list|policy|entry)|block policy for (?:header|envelope)|senderfilterconfig',
    "isn't on the recipient's list|only accept(?:s|ing)? (?:mail|e-?mail|messages) from|allowed-senders list|not in (?:my|the|our) allow(?:ed)?list",
    'members-only list|non-member|not subscribed to this|not (?:permitted|allowed) to post|closed mailing list|post to this (?:mailing )?list|send to (?:the|this) distribution (?:list|group)',
    'group you tried to contact…may not exist',
    'geographical|country (?:is )?(?:blocked|not)|geo-?ip',
    'customer block list|host network,? not allowed',
    'transport rule|mail flow rule|transport\\.rules',
    'batv|returned mail not accepted|null sender|empty envelope sender',
  ),
  strong(
    'authentication',
    '\\bdmarc\\b|\\bdkim\\b|\\bdomainkeys\\b',
    '\\bspf\\b|sender policy framework|\\bsender-?id\\b',
    'unauthenticated (?:e-?mail|mail|sender|message)|sender is unauthenticated',
    'authentication (?:checks?|information|level|requirements|results|failed|failure|fail\\b|credentials|is required|required|unsuccessful|data)',
    'domain authentication',
    'not (?:been )?authenticated|must (?:be )?authenticat|(?:please|need to|have to) authenticate|authenticate first',
    'username and password not accepted|password required|incorrect authentication|bad (?:username|user name) or password',
    'auth(?:entication)? (?:failed|required)|(?:please turn on|turn on) smtp authentication',
    'authentification (?:requise|invalide)|authentifizierung (?:erforderlich|fehlgeschlagen)',
    'not (?:allowed|authori[sz]ed|permitted) to send (?:e-?mail |mail |messages )?(?:from|on behalf|for domain|as)',
    'invalid ip for sending mail of domain|5322\\.from|must pass either',
    'dmarcrejection|unauthenticatedmessage|ipv6autherror',
    'sender (?:was|is) not authenticated|requires authentication',
  ),
  // Sending quotas before storage quotas.
  strong(
    'rate-limited',
    'rate[- ]?limit|throttl|\\bmessage rate\\b',
    'too many (?:(?:simultaneous|concurrent|open|smtp|recent|parallel) ){0,2}(?:connections?|messages|recipients|e-?mails|mails|sessions|connects|requests|errors|commands|login|logins|rcpt|deliveries|mail\\b|bad commands|invalid recipients|unknown (?:users|recipients)|failed)',
    'receiving (?:mail|messages) (?:at a rate|too)|receivingrate',
    '(?:sending|submission|smtp relay|relay|outbound|sender)(?: sending)? (?:limit|quota|rate)…exceed|exceed(?:ed|s|ing)?…(?:sending|submission|receiving) (?:limit|quota)',
    'quota for sending|daily (?:user )?(?:sending|limit|smtp|message|quota)|hourly (?:limit|quota|rate)',
    'exceed(?:ed|s|ing)?…(?:per (?:hour|day|minute|second|connection|session)|(?:e-?mails?|messages|max(?:imum)? number of (?:connections|messages|recipients))\\b)',
    '(?:per|this) hour…(?:limit|exceed|receive)|received this hour|receive limit|messages this hour',
    'try again slower|slow(?:ing)? down|sending too (?:fast|much|many)|too (?:fast|quickly|frequent)',
    'unusual rate of (?:mail|e-?mail)',
    '(?:excessive|unexpected|high|unusual) (?:mail )?volume|volume of (?:mail|e-?mail|messages)',
    'frequency…limit|connection (?:rate|limit|frequency)|max(?:imum)? (?:number of )?(?:concurrent |simultaneous )?(?:connections|defers)|concurrent connection',
    'deferred due to (?:unexpected|excessive|high|unusual)|message threshold exceeded|max(?:imum)? messages? per|thread limit',
    'too much (?:e-?mail|mail|traffic)\\b(?! data)|limits for how many messages',
    '\\brp:(?:trc|cel|drc|qrc)\\b',
    'mail flood|trop de connexions|exceeded permitted limits|(?<!score )exceeded threshold|reached…(?:daily|hourly) limit',
    'zu viele (?:verbindungen|nachrichten|e-?mails)|demasiad[oa]s (?:conexiones|mensajes)|слишком много|频率|过于频繁',
  ),
  strong(
    'system',
    'insufficient system (?:storage|resources)|mail system full|(?:disk|system) space on (?:the )?(?:server|device)|no space left on device|queue file write',
  ),
  strong(
    'mailbox-full',
    'over-? ?quota|overquota|out of (?:storage|disk|mailbox)? ?(?:space|quota|storage)',
    '(?:mailbox|storage|mail|disk|account|user|maildir|his|her|their|extended|folder|message) ?quota…(?:exceed|full|reached|violat|limit|surpass|used)',
    'quota (?:is |has been |was )?(?:exceed|full|reached|violat|surpass|used up|limit)|exceed(?:s|ed|ing)?…quota|above…quota|quota…exceed',
    `(?:${USER}|inbox|mail ?folder|mail ?drop|maildir|spool|storage|disk|message store)…\\bfull\\b`,
    '\\bfull (?:mail ?box|inbox)',
    `(?:mail ?box|inbox|mail ?folder|storage|user's)…(?:exceed|limit (?:is )?reached|size limit|is too (?:big|large)|over (?:the|its|their|his) (?:limit|size|allowed)|over limit|too many messages)`,
    'insufficient (?:disk |mailbox |storage )?(?:space|storage)|(?:not|n.t) (?:have )?(?:enough|sufficient) (?:disk |storage |free )?(?:space|storage|room)|space…not enough|space has been used up',
    'exceed(?:s|ed|ing)?…storage|storage (?:limit|allocation|space|exceeded|full)|mailbox size limit|exceeds? allowed size|too much mail data|larger than the mailbox',
    'over (?:the |its |their |his )?(?:allowed |mailbox |storage |disk )?quota|reached (?:the |its |their )?(?:disk |storage |mailbox )?quota|dis[ck] quota',
    // Postfix, when a mailbox file would grow beyond mailbox_size_limit.
    'error writing message: file too large',
    'has too many messages|messages in…mailbox exceeded|blocks limit exceeded|would exceed…mailbox',
    '(?:postfach|mailbox|speicher)…(?:voll|überfüllt|überschritten)|(?:bo[iî]te|messagerie)…pleine|quota…(?:dépass|depass|atteint|überschritten|excedid|superad|superat)',
    '(?:buz[oó]n|casilla|cuota|bandeja)…(?:llen[oa]|excedid|superad)|(?:casella|cartella)…(?:piena|superat)|caixa…(?:cheia|lotada|excedid)|skrzynka…(?:pełna|przepełniona)|mailbox…vol\\b',
    'ящик…(?:переполнен|заполнен|полон)|переполнен…ящик|превышен[аы]? квот|(?:邮箱|郵箱|信箱|容量|空间|空間)…(?:满|滿|不足|超)|メールボックス…(?:一杯|いっぱい|容量)|容量…(?:超|オーバー)',
  ),
  strong(
    'too-large',
    '(?:message|mail|e-?mail|file|attachment|content|header|body|nachricht)(?: size| length| header size| file)?…(?:too (?:big|large)|size exceed|exceed(?:s|ed|ing)?…(?:size|limit|maximum|length)|larger than|is bigger than)',
    '(?:max(?:imum)?|fixed|allowed|permitted|administrative) (?:inbound |incoming )?(?:message |mail |e-?mail )?(?:size|length)…(?:exceed|limit)|exceed(?:s|ed|ing)?…(?:maximum|max|fixed|allowed|incoming|inbound|administrative|policy)…(?:size|length|limit)',
    'message too long|message size limits?|size limit exceeded|too (?:large|big) for|recipsizelimit|sizelimit|maxsizeerror|line limit exceeded|attachment size',
    'taille (?:limite|maximale)|message trop (?:gros|volumineux)|zu groß|größenbeschränkung|demasiado grande|excede el tamaño|troppo grande|muito grande|слишком большо|превышает (?:допустимый|максимальный) размер|(?:邮件|郵件)…(?:过大|過大|太大)|サイズ…超',
  ),
  // A blocklist named by a lookup host, before anything that mentions the recipient: "mailbox
  // unavailable, your IP is blacklisted".
  strong(
    'spam',
    'spamhaus|spamcop|\\bsorbs\\b|barracudacentral|abuseat|uribl|surbl|uceprotect|mailspike|invaluement|ivmsip|proofpoint\\.com/(?:dnsbl|.*ip)|cloudmark|senderbase|senderscore|talosintelligence|spamrl|mail-abuse|hostkarma|backscatterer|njabl|manitu|spameatingmonkey|trend ?micro rbl|attrbl',
    '\\bdnsbl\\b|\\brbl\\b|\\bdnsbls\\b|(?:realtime|real-time|dns|exploits|policy|customer)…block ?list',
    '(?<!may be )black-? ?list(?!ed by recipient)|\\bblock-? ?list(?:ed|ing)?\\b|deny ?list',
    '(?:client|host|server|ip|network|sender|connection)[^;]{0,80}? (?:blocked|rejected) (?:using|by [a-z0-9-]+\\.[a-z])',
    '(?:is|are|been|address|ip|host|domain) (?:currently )?listed (?:in|at|on|by)|found (?:in|on)…(?:list|dnsbl)|due to listing in',
    '(?:poor|bad|low|negative|none/bad|very low)…reputation|reputation (?:problem|score|of the|is)|ip reputation|sender reputation',
    'spam (?:or|and|/) ?virus|virus (?:or|and|/) ?spam|spam/virus|virus/spam',
    '(?:as|is|be|was|been|are|considered|like|for|to|suspected|probable|probably|likely|possible|contains?|containing|seems?|sending|too much|detected)(?: being| a| an| high| the)? ?\\(?spam\\b|spam\\)?[- ](?:message|mail|e-?mail|content|detect|like|score|filter|check|block|reject|refus|not accepted|trap|pattern|probab|points|classif|complaint|list|engine|policy|text|source|ip|firewall)',
    '\\bspam(?:ming|my|mer|mers|trap|assassin|bouncer|profiler|killer|titan|text)\\b|anti-?spam|no spam|spamsignature|dt:spm|help spam|<>:blocked|block for spam|reject spam|\\(spam\\)|^spam\\b|spam…(?:rejected|refused|exceeded|detected)',
    'unsolicited|junk ?(?:e-?mail|mail)|\\bjunk\\b|bulk (?:e-?mail|mail|advertis)|\\bube\\b|\\buce\\b|mass mailer',
    '(?:your|access|sending|sender|this|the) ip(?: address)?(?: [\\d.:a-f]{4,45})? (?:has been|is|was)(?: temporarily| currently)? (?:blocked|rejected|banned)|banned ip\\b|abus d[eé]tect',
    'will be permanently deferred|a problem occurred\\. \\(ask your postmaster|banned (?:sender|sending)|bad outbound sender|blocked for abuse|(?:due to|for|detected) abuse|abusive|sending spam|user complaints|phish|malicious[_ ]?url',
    '(?:s3140|s3150)|part of their network is on|unsolicited(?:message|ratelimit|ip)error|lowreputation|suspicious due to',
    'message score|mail score|scored (?:too )?(?:high|\\d)|recurrent pattern|content judged|considered unsolicited|looks suspiciously',
    'message filtered|filtered by (?:outbound|spam)|mail rejete|(?:spam|мусор|спам)(?:-|а|ом)|спам|垃圾|迷惑メール',
  ),
  strong(
    'content',
    '\\bvirus(?:es)?\\b|malware|infected|trojan|\\bworm\\b',
    '(?:illegal|forbidden|prohibited|banned|blocked|executable|dangerous|disallowed|unacceptable|potentially executable|suspicious) (?:file )?(?:attachment|file|content|extension|type)',
    '(?:attachment|file type|file extension|extension|\\.(?:exe|zip|js|scr|rar|iso))…(?:not (?:allowed|accepted|permitted)|blocked|rejected|forbidden|prohibited|banned|denied|disallowed)',
    '(?:content|mail content|message content|body)(?: was| is| has been)? (?:rejected|denied|not (?:allowed|accepted|permitted)|refused|blocked|restriction|reject\\b|policy|examination)|rejected - content|banned content|content presents|due to content|content violat',
    'images or other attachments|messages with multiple addresses|potential security issue|blockedmessage|security risk',
    'rfc ?(?:2?822|5322)[^;]{0,40}?complian|complian[^;]{0,30}?rfc ?(?:2?822|5322)|not rfc ?(?:2?822|5322)|rfcmessagenoncompliant|violates rfc',
    'malformed (?:message|mail|mime|header)|(?:message|mail) is malformed|message…malformed',
    'bare (?:lf|cr|line ?feed|newline)|stray (?:linefeed|newline)|invalid characters',
    'invalid (?:mime|header|message content|structure|data in message)|mime (?:error|complexity|header|/reject)|header (?:error|syntax|are not accepted)|bad header|improperly-formatted|8-?bit (?:data|character)',
    '(?:duplicate|multiple|two|more than one)[^.;]{0,30}?headers?\\b|(?:missing|no|without|lacks?) (?:a )?(?:valid )?(?:[^.;]{0,30}?)(?:from|message-id|date|subject|to):? header|encoded-word syntax|unicode character in|multiple addresses in from',
    'url (?:in|within|found)|blacklisted url|(?:链接|附件|内容|正文)…(?:拒绝|违规|非法|敏感)|schadsoftware|вирус|вредонос',
  ),
  // Locked-out senders come before locked mailboxes.
  strong(
    'policy',
    '(?:local|security|organi[sz]ation(?:al)?|company|site|content|corporate) polic|polic(?:y|ies) (?:reasons?|restrictions?|violation|rejection)|(?:due to|by|of|violat\\w+|for)(?: our| a| the| recipient.s)? polic',
    '(?:your|sender|sending|the from)(?: e-?mail| ip| domain| mail| host| server| mailbox)?(?: address| account| domain)? (?:(?:<>|[[(][^\\])]{0,60}[\\])]|[\\d.]{7,15}) )?(?:has been|is|was|are) (?:been )?(?:blocked|suspended|disabled|locked|denied|rejected|restricted)',
  ),
  strong(
    'mailbox-disabled',
    'mailbox unavailable or access denied',
    `${USER}[^.;]{0,40}?\\b(?:disabled|deactivated|inactiv(?:e|ated)|suspended|suspend|locked|frozen|terminated|discontinued|archived|dormant|expired|cancel{1,2}ed|closed|blocked|restricted|not (?:been )?activ(?:e|ated)|on hold|unsubscribed|out of service)\\b`,
    `\\b(?:disabled|deactivated|inactive|suspended|expired|dormant|closed|locked|terminated|archived|blocked) ${USER}`,
    'domain[^;]{0,80}? (?:is|has been|currently) suspended',
    'disableduser|user is terminated|mail receiving disabled|receiving disabled|disabled with mta',
    `${USER}[^.;]{0,40}?no longer (?:in use|active|available|accept|receiv|monitored|used|in service)`,
    '(?:tried to reach|this (?:user|account|mailbox|address))…(?:disabled|inactive)',
    'not accepting (?:any )?(?:mail|messages|e-?mail)$|is not accepting any mail',
    '(?:konto|postfach|benutzer|account)…(?:deaktiviert|gesperrt|geschlossen|stillgelegt)|compte…(?:désactivé|desactive|bloqu|suspendu|fermé)|bo[iî]te…(?:archiv|désactiv|desactiv)|cuenta…(?:desactivada|suspendida|deshabilitada|bloqueada)|(?:casella|account|utente)…(?:disattivat|disabilitat|sospes|bloccat)|conta…(?:desativada|suspensa|bloqueada)',
    '(?:пользователь|ящик|аккаунт|учетная запись)…(?:заблокирован|отключ|неактив)|(?:帐号|账号|用户|邮箱|帳號)…(?:禁用|停用|冻结|冻結|锁定|注销)|利用停止|アカウント…(?:停止|無効)',
  ),
  strong(
    'moved',
    '(?:user|recipient|person|mailbox|account|address|he|she|i)(?: name)?…(?:has|have) moved|(?:user|recipient) moved|has moved to|has been replaced by|(?:is|was) replaced by',
    '(?:e-?mail |mail )?address (?:has )?(?:been )?changed|changed (?:his|her|their|my|its) (?:e-?mail |mail )?address|(?:my|his|her|their|the) new (?:e-?mail |mail )?address|new (?:e-?mail )?address (?:is|:)',
    'forwarding address|forward-?path|please try <>|new mailbox|neue (?:e-?mail-?)?adresse|nouvelle adresse|nueva dirección|nuovo indirizzo',
  ),
  strong(
    'host-unknown',
    'host or domain name not found|host(?: name|name)?(?: is)? (?:not found|unknown|lookup fail)|unknown (?:mail )?host|\\bhost unknown\\b|no such host|can.t find…host|couldn.t find any host|hostname lookup',
    '(?:mail |recipient |destination |address |receiver.s? |the |this |target )?domain(?: name)?(?: [a-z0-9.-]{3,80})? (?:is )?(?:not found|does(?: not|n.t) exist|not exist|unknown|is not reachable|must exist|has no|not valid|is invalid|not recognized|cannot be resolved|could not be (?:found|resolved)|isn.t registered|is not registered|was not found|lookup failed)',
    `(?:no such|unknown|invalid|bad|non-?existent|nonexistent|wrong) (?:mail |recipient |e-?mail |host |domain ?)?(?:domain|host|host name|hostname)\\b`,
    'destination system address|mail domain mentioned in|tenant or domain not found|account or domain may not exist',
    'name (?:or )?service (?:error|not known)|nxdomain|nameserver|name server(?:(?: |:)[^;]{0,60}?)?(?:not found|no data)|servname not (?:known|supported)',
    'no (?:mx|a|valid mx|usable mx|dns) (?:or a |and no a )?(?:records?|host)|\\bno mx\\b|mx (?:records?|list|lookup)…(?:non-?existent|invalid|fail|empty|not|point)|all relevant mx|null ?mx|"?null mx|mx host…not found|mx lookup',
    'unable to (?:resolve|lookup|look up|find|locate)…(?:host|domain|mx|route|server|name|dns)|(?:could not|cannot|couldn.t|failed to) (?:be )?(?:resolve|look ?up)',
    'dns (?:lookup|query|error|failure|resolution|server|records? for|soft|hard)|cname lookup|(?:host|name|mx|domain|server) lookup…failed',
    '(?:unroutable|unrouteable|unroutable mail|unrouteable mail) domain',
    '(?:host|domain)[^.;]{0,40}?(?:does(?: not|n.t)|do not|will not) accept (?:any )?(?:e-?)?mail|does not receive mail|does not accept incoming|no mail (?:server|exchanger|hosts?)|not accept mail for this domain',
    'no hosted tenant|hosted tenant which has no|domain…(?:is )?not hosted|domain (?:has )?expired|is a dead domain',
    'unbekannter host|domain…(?:existiert nicht|unbekannt|nicht gefunden)|domaine…(?:inconnu|inexistant|n.existe)|dominio…(?:no existe|inexistente|desconocido|non esiste)|домен…(?:не найден|не существует)|域名…(?:不存在|错误|无效|解析)|ドメイン…(?:存在|見つか)',
  ),
  strong(
    'user-unknown',
    `${USER}[^;]{0,80}? (?:unknown|inconnu|no longer valid|non-?existent|nonexistent|undefined|unrecognized|undeliverable|invalid\\b|is wrong|mistyped)`,
    `${USER}[^;]{0,80}? ${NO} ?(?:a |be |been )?(?:found|exist|known|recogni[sz]ed|listed|valid|present|local|ok\\b|existing|in (?:the )?(?:directory|system|database|our|my)|a (?:valid|known|local|member)|our customer|belong|correct|delivered? to)`,
    `(?:unknown|no such|invalid|non-?existent|nonexistent|non-?existing|bad|illegal|wrong|unrecogni[sz]ed|undefined|incorrect|no valid|unregistered|fake)(?: or (?:illegal|invalid|unknown|inactive))?(?: (?:virtual|local|final|destination|delivery|envelope|e-?mail|mail|internal|external|account|user)){0,2} ?(?:${USER}|userid|user-?id|id\\b|destination|customer|name\\b)`,
    'user(?:unknown|notfound)|recip(?:ient)?not ?found|adr\\.(?:ex)?recip|nosuchuser|unknownuser|invalid-recipient',
    "(?:this|the|that) (?:user|account|mailbox|address|person|spectator|recipient)…(?:does ?n[o']t|does not|did not) (?:have|exist)",
    `(?:no|not an?|isn.t an?|is not an?)(?: valid| such| known| active| local| one| existing| registered)? ${USER}(?: (?:by|with|here|at|found|of|for|named|called|exists?|on|in|available|address|directory|specified|to deliver)|$|[.,;:!)]| \\()`,
    'no one (?:by that name|at this address|here)|nobody (?:here|by that)|not our customer|no longer (?:exists?|on (?:this |the )?server|with (?:us|the company|this)|works? (?:here|for|at)|employed|here\\b)|left the company',
    "does ?n[o']t have (?:an? )?[^.;]{0,30}?(?:account|mailbox|e-?mail)|does not have an? [^.;]{0,30}?(?:account|mailbox)|(?:address|account|recipient|user) (?:lookup|check)[^.;]{0,30}?fail|recipient (?:verification|validation|check) failed|cannot be verified",
    '(?:tried to reach|you entered|e-?mail account)…(?:does not exist|couldn.t be found|wasn.t found|not be found)|couldn.t be (?:found|delivered to)|wasn.t found at|not found by smtp address lookup|address not found|isn.t a valid|could not be found',
    'recipient (?:address )?rejected: (?:access denied|undeliverable|user|unknown|invalid|no such|not (?:found|known|a |exist)|unverified)|recipient rejected$|all recipients are invalid|no valid recipients|recipient is not accepted|rejected recipients?$|not email addresses|addresses were unknown|cannot deliver mail for|can.t accept user',
    'no mail ?-?box|unrouteable address…550|badrcptto|validrcptto|badrecipientto|address unknown|unknown address|rcpt to[^.;]{0,20}?(?:does not|not) exist|user path no exist|in name directory|missing home directory|vdeliver',
    '<> (?:is |was )?(?:not found|does not exist|unknown|invalid|no such|undeliverable|is not)',
    '(?:empf[äa]nger|benutzer|adresse|postfach|teilnehmer|mailbox|e-?mail-?adresse)…(?:unbekannt|existiert nicht|nicht (?:gefunden|vorhanden|bekannt|verf[üu]gbar)|ung[üu]ltig)|unbekannte[rs]? (?:empf|benutzer|adress)',
    '(?:utilisateur|destinataire|adresse|compte|bo[iî]te)…(?:inconnu|invalide|inexistant|introuvable|n.existe|n a pas|pas été trouv)',
    '(?:usuario|destinatario|direcci[oó]n|cuenta|buz[oó]n)…(?:desconocid|no (?:existe|encontrad|v[áa]lid|es v)|inexistente|inv[áa]lid)|no existe (?:ese|dich|el|la|tal)|no se (?:ha )?(?:encontr|pudo encontrar)',
    '(?:utente|destinatario|indirizzo|casella)…(?:sconosciut|inesistente|non (?:esiste|trovat|valid))|nessun utente|(?:usu[áa]rio|destinat[áa]rio|endere[çc]o|caixa|conta)…(?:desconhecid|n[ãa]o (?:existe|encontrad|localizad)|inexistente|inv[áa]lid)',
    '(?:gebruiker|ontvanger|adres|geadresseerde)…(?:onbekend|niet gevonden|bestaat niet|ongeldig)|(?:użytkownik|odbiorca|adres|skrzynka|konto)…(?:nie istnieje|nieznany|nie znaleziono)|nieznany (?:użytkownik|odbiorca)|(?:kullanıcı|alıcı|adres)…(?:bulunamadı|yok|geçersiz)|okänd|ukjent|tuntematon',
    '(?:пользовател|получател|адрес|ящик|адресат)…(?:не найден|не существует|неизвест|отсутствует|неверн)|не существует|нет такого|(?:用户|用戶|收件人|帐号|账号|帳號|邮箱|郵箱|邮件地址|地址|信箱)…(?:不存在|未找到|找不到|无效|錯誤|有误)|不存在|見つかりません|存在しません|リストにありません|あて先|宛先…(?:不明|ありません|見つか)|존재하지',
  ),

  // From here on: words that count only if the code says nothing.
  weak(
    'policy',
    '(?:recipient|address) rejected: (?!address\\b)[a-z]',
    '^(?:[^a-z]*)rejected\\.?$',
  ),
  weak('spam', '\\bspams?\\b'),
  weak('mailbox-disabled', '(?:is|has been|was)(?: currently)? suspended'),
  weak(
    'expired',
    '(?:message|delivery|mail|queue|retry|delivery time)(?: time| timeout| lifetime| attempts?)?(?: has| was| had)?…(?:expired|timed? ?out|time limit)|expired after|has expired|message expired',
    'retry (?:timeout|time)|in the queue (?:too long|for)|too long in (?:the )?queue|queue (?:too long|period|lifetime)|sitting in queue',
    '(?:could not|not|unable to|cannot|couldn.t|was not|been un?able to)[^;]{0,40}?(?:be )?deliver(?:ed)?[^;]{0,60}?(?:for|within|after|in) (?:more than |over |the |multiple |several |about )?(?:\\d+|five|four|three|two|past|last|many|retries|attempts|days|hours|multiple)',
    'will be deleted from queue|not going to try again|given? up (?:on|after|trying)|giving up|failing for a long time|number of (?:retries|attempts)|too many (?:retries|attempts|delivery)|delivery attempts (?:have been )?exhausted|multiple retries|attempts to deliver…failed',
    'not been collected after|has been (?:un)?delivered for|delivery timeout|max(?:imum)? (?:queue|age|retry|retries|time)',
  ),
  weak(
    'network',
    '(?:connection|conversation|session|socket|connect|channel)[^;]{0,80}?(?:refused|timed? ?out|reset|dropped|closed|lost|broken|aborted|error|failed|terminated|interrupted)|lost connection|connection died|broken pipe',
    '(?:could not|couldn.t|unable to|cannot|can.t|failed to|wasn.t able to|not able to)[^;]{0,20}?(?:connect|establish|contact|reach|talk to)|no route to host|(?:network|host)(?: is)? (?:unreachable|down|not reachable)',
    '(?:server|host|system|remote)[^;]{0,40}?(?:did not respond|not responding|no response|did not accept our requests|unreachable|is down|not answer)|no answer from|none of[^;]{0,30}?servers? respond|timeout|timed out|tls (?:handshake|negotiation)|handshake fail|no smtp connection',
  ),
  weak(
    'protocol',
    'syntax error|(?:command|argument|parameter)[^.;]{0,30}?(?:not recogni|unrecogni|rejected|not (?:implemented|supported|allowed)|invalid|unknown|out of sequence)|unrecogni[sz]ed command|bad sequence|out of sequence|unimplemented|\\b(?:helo|ehlo)\\b|pipelin|protocol (?:error|violation)|smtputf8|non-ascii|send hello|unexpected (?:response|command)|unsupported dialect|improper use|data before greeting',
  ),
  weak(
    'user-unknown',
    '(?:mail ?box|recipient|user|account|address)(?: is| was)?(?: currently| temporarily)? (?:un-?ava?i?l?able|not available|unavailable)|mailbox un?ava|mailbox cannot be accessed',
    '(?:recipient|address|rcpt|addressee)[^.;]{0,30}?(?:rejected|refused|not accepted|not allowed|is denied|denied)|does not like recipient|has rejected address|mailbox (?:name )?(?:is )?not allowed|unroutable address|unrouteable address',
    'undeliverable address|could not be delivered to the (?:recipient|address)',
  ),
  weak(
    'policy',
    'polic(?:y|ies)|organi[sz]ational settings|not accepting mail with|given low priority|captcha|administrative|prohibited|not (?:authori[sz]ed|permitted|allowed|welcome)|access (?:is )?denied|access to (?:this|the)|forbidden|restrict|sender (?:is )?(?:rejected|blocked|denied|refused|not)|rejecting|\\bblocked\\b|go away|not accepted for|security|delivery not authori|refused by|denied\\b|message (?:was |has been )?(?:refused|rejected|denied)|rejected by|mail (?:is |was )?(?:refused|rejected)|client host|no permit|you are not|disallow|bounced by administrator|we do not accept|confirm this|requires confirmation|abus|refus[eé]|verweigert|abgelehnt|rechazad|rifiutat|rejeitad|отклонен|拒绝|拒絕|拒否',
  ),
  weak(
    'system',
    'temporar|try (?:again|later|back)|(?:local|internal|system|server|configuration|i/o|input/output|database|storage|ldap)[^.;]{0,20}?(?:error|problem|failure|fault|trouble|busy)|misconfigur|service (?:is )?(?:currently |temporarily )?(?:unavailable|not available|not active)|(?:server|system)[^.;]{0,20}?(?:busy|overload|unavailable|not accepting|maintenance)|resources|can.t create|cannot (?:open|write|append|lock)|unable to process|out of memory|interrupted system call|there is no mdb|later',
  ),
];
