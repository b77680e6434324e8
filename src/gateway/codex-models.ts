import type { JsonObject } from '../model/json.ts'

/** A model in the form of Codex's own list, which says how it prompts the model and which tools it declares. */
export function toCodexModel(slug: string, priority: number, contextWindow: number): JsonObject {
  return {
    slug,
    display_name: slug,
    description: 'A model behind Dragoman’s gateway.',
    default_reasoning_level: 'medium',
    supported_reasoning_levels: EFFORTS.map((effort) => ({ effort, description: `Reasoning effort: ${effort}` })),
    shell_type: 'unified_exec',
    visibility: 'list',
    supported_in_api: true,
    priority,
    upgrade: null,
    base_instructions: INSTRUCTIONS,
    supports_reasoning_summaries: true,
    support_verbosity: false,
    default_verbosity: null,
    apply_patch_tool_type: 'freeform',
    truncation_policy: { mode: 'tokens', limit: 10_000 },
    supports_parallel_tool_calls: true,
    context_window: contextWindow,
    experimental_supported_tools: [],
  }
}

const EFFORTS = ['low', 'medium', 'high']

/** Codex has no instructions for models of other vendors; without these it would send none. */
const INSTRUCTIONS = `You are a coding agent in the terminal of a user. You and the user share a workspace, and you work until the task is done.

- Read the relevant code before you change it. Prefer rg and rg --files for searching. Run independent reads in parallel.
- Edit files with apply_patch. Keep changes small and in the style of the code around them; do not fix unrelated problems.
- Never revert or overwrite changes that you did not make, and run no destructive commands (git reset --hard, git checkout --) unless the user asks for them.
- Check your work: run the tests, the type checker or the program, as far as they exist.
- Instructions in AGENTS.md files apply to the folder that contains them and everything below; deeper files take precedence.
- Answer in plain, short text. At the end, say what you changed and what you could not verify, and refer to files as path:line.`
