// What pi does before it asks a model for a compaction, measured: opens the session, rebuilds the
// context, prepares the compaction and serialises the range to summarise. Prints one JSON line.
// Arguments: the node_modules folder that holds pi, the session file, keepRecentTokens.
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [modules, file, keep] = process.argv.slice(2);
const core = (name) =>
  import(pathToFileURL(join(resolve(modules), "@mariozechner", "pi-coding-agent", "dist", "core", name)));
const { SessionManager } = await core("session-manager.js");
const { prepareCompaction, DEFAULT_COMPACTION_SETTINGS } = await core("compaction/compaction.js");
const { serializeConversation } = await core("compaction/utils.js");
const { convertToLlm } = await core("messages.js");

const started = performance.now();
const manager = SessionManager.open(file);
const context = manager.buildSessionContext();
const preparation = prepareCompaction(manager.getBranch(), {
  ...DEFAULT_COMPACTION_SETTINGS,
  keepRecentTokens: Number(keep),
});
const history = serializeConversation(convertToLlm(preparation.messagesToSummarize));
const prefix = serializeConversation(convertToLlm(preparation.turnPrefixMessages));
const took = performance.now() - started;

console.log(
  JSON.stringify({
    ms: took,
    maxRssKb: process.resourceUsage().maxRSS,
    messages: context.messages.length,
    summarized: preparation.messagesToSummarize.length + preparation.turnPrefixMessages.length,
    firstKept: preparation.firstKeptEntryId,
    rendered: Buffer.byteLength(history) + Buffer.byteLength(prefix),
  }),
);
