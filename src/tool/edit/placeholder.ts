/** A line that stands for code which the model left out, if a new text has one that the former text had not. */
export function findPlaceholder(fresh: string, former: string): string | undefined {
  const before = new Set(former.split('\n').map((line) => line.trim()))
  return fresh
    .split('\n')
    .find((line) => !before.has(line.trim()) && isPlaceholder(line))
    ?.trim()
}

/**
 * "// ... rest of the code unchanged ..." and its kin, in any language's comment. A sentence counts only if it stands as a
 * comment or in brackets, speaks of code that exists, and says that it is left out or stays.
 */
function isPlaceholder(line: string): boolean {
  const inner =
    /^\s*(?:\/\/+|\/\*+|#+|--+|<!--|;+|%+|\*|\{\/\*|\(|\[|"""|'''|REM\b)?\s*(.*?)\s*(?:\*\/\}?|-->|\)|\]|"""|''')?\s*$/i.exec(
      line,
    )
  const text = inner?.[1] ?? ''
  const marked = line.trim() !== text
  const dotted = /^(?:\.{3}|…)|(?:\.{3}|…)$/.test(text)
  if (!marked && !dotted) return false
  const words = text.replace(/^(?:\.{3}|…)\s*|\s*(?:\.{3}|…)$/g, '').trim()
  if (!/\s/.test(words)) return false
  if (STAYS.test(words) && words.length < 100) return true
  return dotted && OMITTED.test(words)
}

const CODE =
  '(?:code|file|class|function|functions|method|methods|implementation|logic|content|contents|component|module|imports?|definitions?|tests?|cases?|script|section|lines?|properties|fields|body)'

/** "rest of the code remains the same", "existing methods unchanged", "unchanged code". */
const STAYS = new RegExp(
  `^(?:(?:the\\s+)?(?:rest|remainder)\\s+of\\s+(?:the\\s+|this\\s+|your\\s+)?(?:\\w+\\s+)?${CODE}|(?:the\\s+)?(?:all\\s+)?(?:existing|previous|remaining|other|original)\\s+(?:\\w+\\s+)?${CODE})\\s+(?:(?:is|are|remains?|stays?|goes|go|continues?|omitted)\\b.*|unchanged|as before|here|(?:the )?same.*)$|^unchanged\\s+${CODE}$`,
  'i',
)

/** With dots before or after it: "... existing code ...", "rest of the file ...". */
const OMITTED = new RegExp(
  `^(?:(?:the\\s+)?(?:rest|remainder)\\s+of\\s+(?:the\\s+|this\\s+|your\\s+)?(?:\\w+\\s+)?${CODE}|(?:the\\s+)?(?:all\\s+)?(?:existing|previous|remaining|other|same|original|unchanged|more)\\s+(?:\\w+\\s+)?${CODE})\\b.{0,60}$`,
  'i',
)
