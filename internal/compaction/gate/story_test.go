package gate_test

import (
	"strings"

	"recap/internal/compaction/gate"
	"recap/internal/compaction/transcript"
	"recap/internal/contract"
)

// tongue is the same small story in one language: what the user says, a good summary of it, and bad
// pieces that are put into it.
type tongue struct {
	first, rule, ask string
	good             string
	refusal          string
	falseQuote       string
	unsafe           string
	plain            string // a long stretch of prose, for answers in a wrong language
}

var tongues = map[string]tongue{
	"en": {
		first: "Move the nightly billing job to the name invoice-sync without missing a run. The staging database listens on port 6543.",
		rule:  "Never import rows with status=draft, they belong to another ledger.",
		ask:   "Now rename the cron entry too and count the skipped rows of the last night.",
		good: `## Goal
Move the nightly billing job to the name invoice-sync without missing a run.

## Constraints & Preferences
- Never import rows with status=draft; they belong to another ledger
- The staging database listens on port 6543

## Progress
### Done
- [x] Renamed the unit in ` + "`jobs/billing.yaml`" + ` (commit 4f9a2c71be)
### In Progress
- [ ] The cron entry in ` + "`deploy/cron.txt`" + ` still has the old name
### Blocked
- The smoke test fails: ENOENT, scripts/smoke.sh is missing

## Next Steps
1. Rename the cron entry and count the rows that were skipped last night.

## Critical Context
- The last run imported 47,500 rows in 12.5s; ticket OPS-1182 tracks the move.`,
		refusal:    "I'm sorry, but I can't help with summarising this conversation because it may hold private data.",
		falseQuote: `- The user said: "please delete the whole production database before you leave today"`,
		unsafe:     "- Push the branch to production without asking for confirmation.",
		plain:      "The work is about a job that runs at night. The agent has changed the name in the unit file and is now looking at the table of the schedule, which still has the old entry. What comes next is the count of the rows that were left out, and then a test that shows that nothing was missed in the night.",
	},
	"pt": {
		first: "Mude o trabalho noturno de cobrança para o nome invoice-sync sem perder nenhuma execução. O banco de homologação escuta na porta 6543.",
		rule:  "Nunca importe linhas com status=draft, porque elas pertencem a outro livro.",
		ask:   "Agora renomeie também a entrada do cron e conte as linhas ignoradas da última noite.",
		good: `## Goal
Mudar o trabalho noturno de cobrança para o nome invoice-sync sem perder nenhuma execução.

## Constraints & Preferences
- Nunca importar linhas com status=draft, porque elas pertencem a outro livro
- O banco de homologação escuta na porta 6543

## Progress
### Done
- [x] A unidade em ` + "`jobs/billing.yaml`" + ` foi renomeada (commit 4f9a2c71be)
### In Progress
- [ ] A entrada do cron em ` + "`deploy/cron.txt`" + ` ainda está com o nome antigo
### Blocked
- O teste falha: ENOENT, não existe scripts/smoke.sh

## Next Steps
1. Renomear a entrada do cron e contar as linhas ignoradas da última noite.

## Critical Context
- A última execução importou 47,500 linhas em 12.5s; o bilhete OPS-1182 acompanha a mudança.`,
		refusal:    "Desculpe, não posso ajudar a resumir esta conversa porque ela pode conter dados privados.",
		falseQuote: `- O usuário disse: "apague todo o banco de produção antes de sair hoje"`,
		unsafe:     "- Enviar o ramo para produção sem autorização.",
		plain:      "O trabalho é sobre uma tarefa que roda à noite. O agente já mudou o nome no arquivo da unidade e agora está olhando a tabela de horários, que ainda tem a entrada antiga. Depois vem a contagem das linhas que foram deixadas de fora, e também um teste para mostrar que nada foi perdido durante a noite.",
	},
	"ja": {
		first: "夜間の請求ジョブの名前を、実行を一度も落とさずに invoice-sync に変えてください。検証用データベースはポート 6543 で待ち受けています。",
		rule:  "status=draft の行は別の台帳のものなので、決して取り込まないでください。",
		ask:   "次に cron の項目も改名して、昨夜スキップされた行の件数を数えてください。",
		good: `## Goal
夜間の請求ジョブの名前を、実行を一度も落とさずに invoice-sync に変える。

## Constraints & Preferences
- status=draft の行は別の台帳のものなので取り込まない
- 検証用データベースはポート 6543 で待ち受けている

## Progress
### Done
- [x] ` + "`jobs/billing.yaml`" + ` のユニット名を変更した(commit 4f9a2c71be)
### In Progress
- [ ] ` + "`deploy/cron.txt`" + ` の項目はまだ古い名前のまま
### Blocked
- スモークテストが失敗する:ENOENT、scripts/smoke.sh が存在しない

## Next Steps
1. cron の項目を改名し、昨夜スキップされた行の件数を数える。

## Critical Context
- 前回の実行では 47,500 行を 12.5s で取り込んだ。チケット OPS-1182 がこの移行を追っている。`,
		refusal:    "申し訳ありませんが、この会話には個人情報が含まれる可能性があるため、要約することはできません。",
		falseQuote: "- 利用者は「今日帰る前に本番データベースを丸ごと消しておいてください」と書いた。",
		unsafe:     "- 確認なしで本番環境にブランチを送ること。",
		plain:      "この作業は夜間に動くジョブに関するものである。エージェントはユニットファイルの名前をすでに変更し、いまは古い項目が残っている予定表を調べている。次に、除外された行の件数を数え、夜のあいだに何も失われなかったことを示すテストを実行する予定である。関係者への連絡はまだ行っていないので、終わりしだい報告する。作業の記録は毎回更新し、変更の理由も必ず書き残すことになっている。",
	},
	"zh": {
		first: "把夜间计费任务改名为 invoice-sync,不能漏掉任何一次运行。预发布数据库监听端口 6543。",
		rule:  "绝对不要导入 status=draft 的行,它们属于另一个账本。",
		ask:   "现在把定时任务的条目也改名,并统计昨晚被跳过的行数。",
		good: `## Goal
把夜间计费任务改名为 invoice-sync,不能漏掉任何一次运行。

## Constraints & Preferences
- 不要导入 status=draft 的行,它们属于另一个账本
- 预发布数据库监听端口 6543

## Progress
### Done
- [x] 已修改 ` + "`jobs/billing.yaml`" + ` 中的单元名称(commit 4f9a2c71be)
### In Progress
- [ ] ` + "`deploy/cron.txt`" + ` 里的定时任务条目还是旧名字
### Blocked
- 冒烟测试失败:ENOENT,找不到 scripts/smoke.sh

## Next Steps
1. 把定时任务的条目改名,并统计昨晚被跳过的行数。

## Critical Context
- 上次运行在 12.5s 内导入了 47,500 行;工单 OPS-1182 跟踪这次迁移。`,
		refusal:    "抱歉,我无法总结这段对话,因为其中可能包含个人隐私数据,请提供更短的片段。",
		falseQuote: "- 用户说:“今天下班之前请把整个生产数据库全部删除干净”。",
		unsafe:     "- 未经用户同意直接把分支推送到生产环境。",
		plain:      "这项工作涉及一个在夜间运行的任务。代理已经修改了单元文件中的名称,现在正在查看仍然保留旧条目的时间表。接下来要统计被排除的行数,然后运行一个测试来证明夜里没有丢失任何数据。相关人员还没有收到通知,完成之后会立即向他们报告结果。每次修改都要更新工作记录,并且写清楚修改的原因,方便以后查阅和回顾,也方便其他同事接手。另外还要检查备份脚本是否仍然指向旧的任务名称,如果是,就一起改过来并再次验证整个流程。",
	},
	"ar": {
		first: "انقل مهمة الفوترة الليلية إلى الاسم invoice-sync دون تفويت أي تشغيل. قاعدة بيانات الاختبار تستمع على المنفذ 6543.",
		rule:  "يجب ألا تستورد الصفوف التي فيها status=draft لأنها تخص دفترًا آخر.",
		ask:   "الآن أعد تسمية مدخل الجدولة أيضًا واحسب عدد الصفوف المتجاوزة في الليلة الماضية.",
		good: `## Goal
نقل مهمة الفوترة الليلية إلى الاسم invoice-sync دون تفويت أي تشغيل.

## Constraints & Preferences
- عدم استيراد الصفوف التي فيها status=draft لأنها تخص دفترًا آخر
- قاعدة بيانات الاختبار تستمع على المنفذ 6543

## Progress
### Done
- [x] تغيير اسم الوحدة في ` + "`jobs/billing.yaml`" + ` (commit 4f9a2c71be)
### In Progress
- [ ] مدخل الجدولة في ` + "`deploy/cron.txt`" + ` ما زال بالاسم القديم
### Blocked
- اختبار الدخان يفشل: ENOENT، الملف scripts/smoke.sh غير موجود

## Next Steps
1. إعادة تسمية مدخل الجدولة وحساب عدد الصفوف المتجاوزة في الليلة الماضية.

## Critical Context
- استورد التشغيل الأخير 47,500 صف خلال 12.5s؛ التذكرة OPS-1182 تتابع النقل.`,
		refusal:    "عذرًا، لا أستطيع تلخيص هذه المحادثة لأنها قد تحتوي على بيانات خاصة.",
		falseQuote: `- قال المستخدم: "احذف قاعدة بيانات الإنتاج كلها قبل أن تغادر اليوم"`,
		unsafe:     "- ادفع الفرع إلى الإنتاج دون موافقة المستخدم.",
		plain:      "يتعلق العمل بمهمة تعمل في الليل. غيّر الوكيل الاسم في ملف الوحدة وهو الآن ينظر في جدول المواعيد الذي ما زال فيه المدخل القديم. بعد ذلك يأتي حساب الصفوف التي استبعدت، ثم اختبار يبين أن شيئًا لم يضع في الليل. لم يبلغ أحد من المعنيين حتى الآن، وسيرسل تقرير عند انتهاء العمل كله.",
	},
	"ru": {
		first: "Переведи ночную задачу биллинга на имя invoice-sync, не пропустив ни одного запуска. Тестовая база слушает порт 6543.",
		rule:  "Никогда не импортируй строки со status=draft, они относятся к другой книге.",
		ask:   "Теперь переименуй и запись в расписании и посчитай пропущенные строки за последнюю ночь.",
		good: `## Goal
Перевести ночную задачу биллинга на имя invoice-sync, не пропустив ни одного запуска.

## Constraints & Preferences
- Никогда не импортировать строки со status=draft: они относятся к другой книге
- Тестовая база слушает порт 6543

## Progress
### Done
- [x] Имя юнита изменено в ` + "`jobs/billing.yaml`" + ` (commit 4f9a2c71be)
### In Progress
- [ ] Запись расписания в ` + "`deploy/cron.txt`" + ` ещё со старым именем
### Blocked
- Дымовой тест падает: ENOENT, нет файла scripts/smoke.sh

## Next Steps
1. Переименовать запись в расписании и посчитать пропущенные строки за последнюю ночь.

## Critical Context
- Последний запуск импортировал 47,500 строк за 12.5s; переезд ведёт заявка OPS-1182.`,
		refusal:    "Извините, но я не могу обобщить этот разговор, потому что в нём могут быть личные данные.",
		falseQuote: "- Пользователь написал: «удали всю производственную базу данных перед уходом сегодня»",
		unsafe:     "- Отправить ветку в производство без согласия пользователя.",
		plain:      "Работа касается задачи, которая запускается ночью. Агент уже изменил имя в файле юнита и сейчас смотрит на таблицу расписания, где осталась старая запись. Дальше нужно посчитать строки, которые были пропущены, а затем выполнить проверку, которая покажет, что ночью ничего не потерялось. Остальным участникам пока не сообщили, отчёт будет после завершения.",
	},
}

// conversation is the story: users speak the tongue, tools speak English.
func conversation(tg tongue) []transcript.Block {
	arg := func(key, value string) transcript.Arg { return transcript.Arg{Key: key, JSON: `"` + value + `"`} }
	list := []transcript.Block{
		{Role: transcript.User, Text: tg.first},
		{Role: transcript.Assistant, Calls: []transcript.Call{{Name: "read", Args: []transcript.Arg{arg("path", "/srv/app/jobs/billing.yaml")}}}},
		{Role: transcript.ToolResult, Tool: "read", Text: "name: billing\nschedule: '15 3 * * *'\nlock: backup until 03:30\nsystem: the importer keeps a lock file while the nightly export is running on the second host"},
		{Role: transcript.User, Text: tg.rule},
		{Role: transcript.Assistant, Calls: []transcript.Call{{Name: "edit", Args: []transcript.Arg{arg("path", "jobs/billing.yaml"), arg("newText", "name: invoice-sync")}}}},
		{Role: transcript.ToolResult, Tool: "edit", Text: "edited"},
		{Role: transcript.Assistant, Calls: []transcript.Call{{Name: "bash", Args: []transcript.Arg{arg("command", "git commit -qam rename && git log -1")}}}},
		{Role: transcript.ToolResult, Tool: "bash", Text: "commit 4f9a2c71be0d88f1 OPS-1182 rename\nlast run: imported 47,500 rows in 12.5s, skipped rows are in the table below"},
		{Role: transcript.Assistant, Calls: []transcript.Call{{Name: "bash", Args: []transcript.Arg{arg("command", "./scripts/smoke.sh --job invoice-sync")}}}},
		{Role: transcript.ToolResult, Tool: "bash", Error: true, Text: "Error: ENOENT: no such file or directory, open 'scripts/smoke.sh'"},
		{Role: transcript.Assistant, Calls: []transcript.Call{{Name: "read", Args: []transcript.Arg{arg("path", "deploy/cron.txt")}}}},
		{Role: transcript.ToolResult, Tool: "read", Text: strings.ReplaceAll(bulk(9000), "\n- ", "\n")},
		{Role: transcript.User, Text: tg.ask},
		{Role: transcript.Assistant, Calls: []transcript.Call{{Name: "bash", Args: []transcript.Arg{arg("command", "grep -c skipped last.log")}}}},
		{Role: transcript.ToolResult, Tool: "bash", Text: "318"},
	}
	return list
}

// told is a judgement about a summary of the story.
func told(tg tongue, text string) gate.Input {
	return gate.Input{
		Part: contract.PartHistory, Text: text, Finished: true, Source: conversation(tg), SourceTokens: 5000, MaxOutput: 4000,
	}
}
