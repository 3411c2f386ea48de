// Serves the real pi to Go tests: one JSON request a line on standard input, one JSON answer a line
// on standard output. The first argument is the node_modules folder that holds pi.
//
//   {do: "read", file, leaf?}           the context pi builds of a file, which is left untouched
//   {do: "open", file}                  opens it as a running pi does; answers a session number
//   {do: "context", session}            the context of an open session
//   {do: "append", session, message}    a message under the session's leaf; answers the entry's id
//   {do: "compact", session, keep}      where pi would cut next
import { createInterface } from "node:readline";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const core = (name) =>
  import(pathToFileURL(join(resolve(process.argv[2]), "@mariozechner", "pi-coding-agent", "dist", "core", name)));
const { SessionManager, buildSessionContext, loadEntriesFromFile, migrateSessionEntries } = await core("session-manager.js");
const { prepareCompaction, DEFAULT_COMPACTION_SETTINGS } = await core("compaction/compaction.js");

const open = [];

const describe = (entries, context, leafId) => ({
  messages: context.messages,
  thinkingLevel: context.thinkingLevel,
  model: context.model,
  entries: entries.map(({ id, parentId, type }) => ({ id, parentId, type })),
  leafId,
});

const actions = {
  read({ file, leaf }) {
    const records = loadEntriesFromFile(file);
    migrateSessionEntries(records);
    const entries = records.filter((record) => record.type !== "session");
    return describe(entries, buildSessionContext(entries, leaf), leaf ?? entries.at(-1)?.id ?? null);
  },
  open({ file }) {
    return { session: open.push(SessionManager.open(file)) - 1 };
  },
  context({ session }) {
    const manager = open[session];
    return describe(manager.getEntries(), manager.buildSessionContext(), manager.getLeafId());
  },
  append({ session, message }) {
    return { id: open[session].appendMessage(message) };
  },
  compact({ session, keep }) {
    const preparation = prepareCompaction(open[session].getBranch(), { ...DEFAULT_COMPACTION_SETTINGS, keepRecentTokens: keep });
    return { firstKeptEntryId: preparation?.firstKeptEntryId ?? null, summarized: preparation?.messagesToSummarize.length ?? 0 };
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  let answer;
  try {
    const request = JSON.parse(line);
    answer = { ok: actions[request.do](request) };
  } catch (error) {
    answer = { error: String(error?.stack ?? error) };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
