/** A line that stands for code which the model left out, if the former text does not have that line. */
export function findOmissionPlaceholder(replacement: string, former: string): string | undefined {
  const before = new Set(former.split('\n').map((line) => line.trim()))
  const found = replacement.split('\n').find((line) => !before.has(line.trim()) && isPlaceholder(line))
  return found?.trim()
}

/**
 * “// ... rest of the code unchanged ...” and the like, in the comment syntax of any language. A phrase counts only as a
 * comment or in brackets, if it names other code and says that it is omitted or unchanged.
 */
function isPlaceholder(line: string): boolean {
  let words = line.trim()
  let isMarked = false
  for (let stripped = stripCommentMarks(words); stripped !== words; stripped = stripCommentMarks(words)) {
    words = stripped
    isMarked = true
  }
  const isDotted = DOTS_PATTERN.test(words)
  if (!isMarked && !isDotted) return false
  const text = words.replace(/^(?:\.{3}|…)\s*|\s*(?:\.{3}|…)$/g, '')
  return UNCHANGED_PATTERN.test(text) || (isDotted && OMITTED_PATTERN.test(text))
}

function stripCommentMarks(text: string): string {
  const plain = text.replace(/^(?:\/\/+|\/\*+|#+|--+|<!--|;+|%+|\*+|REM\b)\s*/i, '').replace(/\s*(?:\*+\/|-->)$/, '')
  return plain.replace(/^\((.*)\)$|^\[(.*)\]$|^\{(.*)\}$/, '$1$2$3').trim()
}

const DOTS_PATTERN = /^(?:\.{3}|…)|(?:\.{3}|…)$/

const CODE_NOUN =
  '(?:code|file|class|functions?|methods?|implementations?|logic|contents?|components?|module|imports?|definitions?|tests?|cases?|script|section|lines?|properties|fields|body)'

/** “the rest of the code”, “existing helper methods”. */
const OTHER_CODE = `(?:(?:the )?(?:rest|remainder) of (?:the |this |your |our )?(?:\\w+ )?${CODE_NOUN}|(?:the |all )*(?:existing|previous|remaining|other|original) (?:\\w+ )?${CODE_NOUN})`

/** "rest of the code remains the same", "existing methods unchanged", "unchanged code". */
const UNCHANGED_PATTERN = new RegExp(
  `^(?:${OTHER_CODE},? (?:(?:(?:is|are|remains?|stays?|was|were) )?(?:the same|unchanged|as is|as before|as it was|identical|intact|untouched|omitted|not shown)|(?:go(?:es)?|stays?|remains?|continues?)(?: here)?|here)\\b.{0,30}|unchanged ${CODE_NOUN})[.)]*$`,
  'i',
)

/** With dots before or after it: "... existing code ...", "rest of the file ...". */
const OMITTED_PATTERN = new RegExp(`^(?:${OTHER_CODE}|(?:same|unchanged|more) ${CODE_NOUN})\\b.{0,40}$`, 'i')
