/** The short names of clients, by what they send as User-Agent. */
const USER_AGENTS: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/^claude-(?:cli|code)\b/i, 'claude'],
  [/^codex[\w-]*\//i, 'codex'],
  [/^GeminiCLI\b/i, 'gemini'],
  [/\bopencode\//i, 'opencode'],
  [/^QwenCode\b/i, 'qwen'],
  [/^pi(?:-coding-agent)?[/ ]/i, 'pi'],
  [/\bgoose\b/i, 'goose'],
]

/** A known name, or the first word of the User-Agent; `other` if there is none. */
export function getClientName(userAgent = '', other = 'unknown'): string {
  const known = USER_AGENTS.find(([pattern]) => pattern.test(userAgent))?.[1]
  if (known !== undefined) return known
  return /^[\w.-]{1,40}/.exec(userAgent)?.[0].toLowerCase() ?? other
}
