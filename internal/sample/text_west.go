package sample

var english = phrases{
	requests: []string{
		"The tide planner is one hour off on the night the clocks change. Find out why NextWindow does that and fix it, please.",
		"Two ferries got the same berth yesterday. Allocate must refuse overlapping slots, also when one begins exactly as the other ends.",
		"Importing the pilot roster shuffles the order of the pilots. It has to stay as it is in the file.",
		"Accounting says our harbour fees are a cent too high now and then. Please look at RoundFee; they round half to even.",
		"When the AIS feed goes away we hammer their server. Reconnect needs a proper back-off with a ceiling of 30 seconds.",
		"The berth list in the API never ends: the last page hands out a cursor again. Clients loop for ever.",
		"Audit pruning deleted records that are under legal hold. That is serious. Please fix Prune and show me the test.",
		"Prometheus is drowning in our metrics. One label per vessel is far too many; think of something bounded.",
	},
	look:    []string{"Let me look at %s first.", "I'll read %s and see who calls it.", "Starting with %s."},
	failing: []string{"I can reproduce it: %s fails. Now the cause.", "%s shows the problem.", "Good, %s is red for the right reason."},
	fix:     []string{"The comparison in %s is wrong. Fixing it.", "Changing %s now.", "This is a small change in %s."},
	again:   []string{"Not yet; one more case fails.", "Closer. The edge case is still wrong.", "Still red. I overlooked the second caller."},
	done: []string{
		"Done. %s is fixed in %s and the tests of the package pass.",
		"%s now does what you asked for (see %s). All tests are green.",
		"Finished: I changed %s in %s, added a test for the edge case and ran the package's tests.",
	},
	rules: []string{
		"Never touch the generated files under internal/gen.",
		"Always run the race detector before you say that you are done.",
		"Only use the standard library, no new dependencies.",
		"The public API must stay compatible with version 2.",
	},
	decisions: []string{
		"I decided to keep times in UTC inside the planner rather than converting at every call.",
		"Instead of a lock per berth I'll use one lock per quay, because allocations cross berths.",
		"Let's go with a table-driven test; the cases are easy to read there.",
	},
	thoughts: []string{
		"The user wants %s fixed. The failing case is about the boundary. Is the comparison inclusive? I should check the callers before I change anything.",
		"So %s is called from two places. If I change the return value, the scheduler must be adapted too. Let me verify that with grep.",
	},
	aside:     "Before we go on: could we try to solve this with a priority queue instead?",
	asideDone: "I tried the priority queue. It works, but it makes cancelling a slot linear, so I would not keep it.",
	abandoned: "A priority queue for slots was tried in internal/berth/queue.go. Cancelling a slot became linear in the number of slots, so the approach was dropped.",
	goOn:      "Sorry, wrong key. Go on, please.",
	question:  "One more thing before the release on Thursday: should the berth lock be per quay or per terminal, and what breaks if two terminals share a quay?",
	note:      "CI: pipeline 4471 passed on branch fix/harbor (lint, unit, race).",
}

var portuguese = phrases{
	requests: []string{
		"O planejador de marés erra por uma hora na noite em que o horário muda. Descubra por que NextWindow faz isso e corrija, por favor.",
		"Ontem duas balsas receberam o mesmo berço. Allocate deve recusar intervalos que se sobrepõem, inclusive quando um começa exatamente no fim do outro.",
		"A importação da escala dos práticos embaralha a ordem. Ela precisa ficar como está no arquivo.",
		"A contabilidade diz que as tarifas saem um centavo mais altas de vez em quando. Veja RoundFee, por favor; eles arredondam para o par.",
		"Quando o sinal AIS cai, sobrecarregamos o servidor deles. Reconnect precisa de espera crescente com teto de 30 segundos.",
		"A lista de berços da API nunca termina: a última página devolve um cursor de novo. Os clientes ficam em laço.",
		"A limpeza da auditoria apagou registros sob retenção judicial. Isso é grave. Corrija Prune e mostre o teste.",
		"O Prometheus está se afogando nas nossas métricas. Um rótulo por navio é demais; pense em algo limitado.",
	},
	look:    []string{"Vou olhar %s primeiro.", "Vou ler %s e ver quem chama.", "Começando por %s."},
	failing: []string{"Consigo reproduzir: %s falha. Agora a causa.", "%s mostra o problema."},
	fix:     []string{"A comparação em %s está errada. Corrigindo.", "Alterando %s agora."},
	again:   []string{"Ainda não; mais um caso falha.", "Quase. O caso limite continua errado."},
	done: []string{
		"Pronto. %s está corrigido em %s e os testes do pacote passam.",
		"%s agora faz o que você pediu (veja %s). Todos os testes estão verdes.",
	},
	rules: []string{
		"Nunca altere os arquivos gerados em internal/gen.",
		"Sempre rode o detector de corrida antes de dizer que terminou.",
		"Use apenas a biblioteca padrão, sem dependências novas.",
	},
	decisions: []string{
		"Decidi manter os horários em UTC dentro do planejador em vez de converter a cada chamada.",
		"Vamos usar um bloqueio por cais, porque as alocações cruzam berços.",
	},
	thoughts:  []string{"O usuário quer %s corrigido. O caso que falha é o limite. A comparação é inclusiva? Vou verificar quem chama."},
	aside:     "Antes de continuar: dá para tentar resolver isso com uma fila de prioridade?",
	asideDone: "Tentei a fila de prioridade. Funciona, mas cancelar um horário fica linear, então eu não ficaria com ela.",
	abandoned: "Uma fila de prioridade foi tentada em internal/berth/queue.go. Cancelar um horário ficou linear e a ideia foi abandonada.",
	goOn:      "Desculpe, tecla errada. Continue, por favor.",
	question:  "Mais uma coisa antes da versão de quinta-feira: o bloqueio do berço deve ser por cais ou por terminal, e o que quebra se dois terminais dividem um cais?",
	note:      "CI: a execução 4471 passou no ramo fix/harbor (lint, unidade, corrida).",
}

var russian = phrases{
	requests: []string{
		"Планировщик приливов ошибается на час в ночь перевода часов. Выясни, почему так делает NextWindow, и исправь, пожалуйста.",
		"Вчера два парома получили один причал. Allocate должен отклонять пересекающиеся интервалы, даже если один начинается ровно в конце другого.",
		"Импорт расписания лоцманов перемешивает порядок. Он должен остаться таким, как в файле.",
		"Бухгалтерия говорит, что портовые сборы иногда больше на копейку. Посмотри RoundFee: они округляют до чётного.",
		"Когда пропадает поток AIS, мы забрасываем их сервер запросами. Reconnect нужна растущая пауза с потолком 30 секунд.",
		"Список причалов в API не кончается: последняя страница снова выдаёт курсор. Клиенты зацикливаются.",
		"Очистка аудита удалила записи под юридическим запретом. Это серьёзно. Исправь Prune и покажи тест.",
		"Prometheus тонет в наших метриках. Метка на каждое судно — это слишком; придумай что-нибудь ограниченное.",
	},
	look:    []string{"Сначала посмотрю %s.", "Прочитаю %s и найду, кто это вызывает."},
	failing: []string{"Воспроизвёл: %s падает. Теперь причина.", "%s показывает проблему."},
	fix:     []string{"Сравнение в %s неверное. Исправляю.", "Меняю %s."},
	again:   []string{"Ещё нет: падает ещё один случай.", "Почти. Граничный случай всё ещё неверен."},
	done: []string{
		"Готово. %s исправлен в %s, тесты пакета проходят.",
		"%s теперь делает то, что нужно (см. %s). Все тесты зелёные.",
	},
	rules: []string{
		"Никогда не меняй сгенерированные файлы в internal/gen.",
		"Всегда запускай детектор гонок, прежде чем говорить, что готово.",
		"Используй только стандартную библиотеку, без новых зависимостей.",
	},
	decisions: []string{
		"Я решил хранить время в UTC внутри планировщика вместо преобразования при каждом вызове.",
		"Будем использовать одну блокировку на пирс, потому что распределение затрагивает несколько причалов.",
	},
	thoughts:  []string{"Пользователь хочет исправить %s. Падает граничный случай. Сравнение включающее? Надо проверить вызывающий код."},
	aside:     "Прежде чем продолжить: можно попробовать решить это очередью с приоритетом?",
	asideDone: "Попробовал очередь с приоритетом. Работает, но отмена интервала становится линейной, я бы её не оставлял.",
	abandoned: "Очередь с приоритетом пробовали в internal/berth/queue.go. Отмена интервала стала линейной, и от идеи отказались.",
	goOn:      "Извини, не та клавиша. Продолжай, пожалуйста.",
	question:  "Ещё одно до релиза в четверг: блокировка причала должна быть на пирс или на терминал, и что сломается, если два терминала делят один пирс?",
	note:      "CI: конвейер 4471 прошёл на ветке fix/harbor (lint, unit, race).",
}
