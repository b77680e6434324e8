/** A line that stands for code which the model left out, if a new text has one that the former text had not. */
export function findPlaceholder(fresh: string, former: string): string | undefined {
  const before = new Set(former.split('\n').map((line) => line.trim()))
  const found = fresh.split('\n').find((line) => !before.has(line.trim()) && isPlaceholder(line))
  return found?.trim()
}

/**
 * "// ... rest of the code unchanged ..." and its kin, in any language's comment. A sentence counts only if it stands as a
 * comment or in brackets, speaks of code that is somewhere else, and says that it is left out or stays.
 */
function isPlaceholder(line: string): boolean {
  let words = line.trim()
  let isMarked = false
  for (let bare = unmarked(words); bare !== words; bare = unmarked(words)) {
    words = bare
    isMarked = true
  }
  const isDotted = DOTS.test(words)
  if (!isMarked && !isDotted) return false
  const text = words.replace(/^(?:\.{3}|…)\s*|\s*(?:\.{3}|…)$/g, '')
  return STAYS.test(text) || (isDotted && OMITTED.test(text))
}

/** Without one layer of a comment's marks or of brackets. */
function unmarked(text: string): string {
  const plain = text.replace(/^(?:\/\/+|\/\*+|#+|--+|<!--|;+|%+|\*+|REM\b)\s*/i, '').replace(/\s*(?:\*+\/|-->)$/, '')
  return plain.replace(/^\((.*)\)$|^\[(.*)\]$|^\{(.*)\}$/, '$1$2$3').trim()
}

const DOTS = /^(?:\.{3}|…)|(?:\.{3}|…)$/

const THING =
  '(?:code|file|class|functions?|methods?|implementations?|logic|contents?|components?|module|imports?|definitions?|tests?|cases?|script|section|lines?|properties|fields|body)'

/** What is spoken of: "the rest of the code", "existing helper methods". */
const ELSEWHERE = `(?:(?:the )?(?:rest|remainder) of (?:the |this |your |our )?(?:\\w+ )?${THING}|(?:the |all )*(?:existing|previous|remaining|other|original) (?:\\w+ )?${THING})`

/** "rest of the code remains the same", "existing methods unchanged", "unchanged code". */
const STAYS = new RegExp(
  `^(?:${ELSEWHERE},? (?:(?:(?:is|are|remains?|stays?|was|were) )?(?:the same|unchanged|as is|as before|as it was|identical|intact|untouched|omitted|not shown)|(?:go(?:es)?|stays?|remains?|continues?)(?: here)?|here)\\b.{0,30}|unchanged ${THING})[.)]*$`,
  'i',
)

/** With dots before or after it: "... existing code ...", "rest of the file ...". */
const OMITTED = new RegExp(`^(?:${ELSEWHERE}|(?:same|unchanged|more) ${THING})\\b.{0,40}$`, 'i')
