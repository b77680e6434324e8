import { isObject } from '../../src/model/json.ts'
import type { Profile } from '../../src/model/profile.ts'
import type { WireId } from '../../src/model/turn.ts'
import { foreignMarks } from './seals.ts'
import { validateAnthropic } from './validate-anthropic.ts'
import { validateChat } from './validate-chat.ts'
import { validateGemini } from './validate-gemini.ts'
import { validateInteractions } from './validate-interactions.ts'
import { validateResponses } from './validate-responses.ts'
import { type Fields, type Refuse, list } from './validate-shape.ts'

/**
 * What the service behind a wire would refuse in a request, as far as its failures are known (T74–T104, T117–T127,
 * T136–T139, T144–T155). Written from docs/failures.md and not from the encoders, so that the two can disagree.
 * Empty means accepted.
 */
export function validateTranscript(wire: WireId, body: unknown, profile: Profile): string[] {
  const out: string[] = []
  const refuse: Refuse = (rule, where) => void out.push(where === undefined ? rule : `${rule} (${where})`)
  if (!isObject(body)) return ['the body is no object']
  if (wire === 'code-assist') {
    if (typeof body['model'] !== 'string') refuse('T131 no model')
    if (!isObject(body['request'])) return ['T131 no request in the envelope']
    if (Object.keys(body).at(-1) !== 'request') refuse('T92 the request is not the last key')
  }
  const inner = wire === 'code-assist' ? (body['request'] as Fields) : body
  const history = HISTORY[wire]
  sendable(body, refuse)
  promises(JSON.stringify(body), refuse)
  if (foreignMarks(JSON.stringify(body), wire, profile.signer).length > 0) refuse('T120 foreign native data')
  if (Object.keys(inner).at(-1) !== history) refuse(`T92 ${history} is not the last key`)
  if (list(inner[history]).length === 0) refuse(`T123 ${history} is empty`)
  for (const key of profile.refuses) if (Object.hasOwn(inner, key)) refuse(`T155 ${key} is refused here`)
  VALIDATORS[wire](inner, profile, refuse)
  return out
}

const HISTORY: Record<WireId, string> = {
  gemini: 'contents',
  interactions: 'input',
  'code-assist': 'contents',
  'openai-chat': 'messages',
  'openai-responses': 'input',
  anthropic: 'messages',
}

const VALIDATORS: Record<WireId, (body: Fields, profile: Profile, refuse: Refuse) => void> = {
  gemini: validateGemini,
  interactions: validateInteractions,
  'code-assist': validateGemini,
  'openai-chat': validateChat,
  'openai-responses': validateResponses,
  anthropic: validateAnthropic,
}

/** Where a result says that something is attached, something is, or it says why not (T100). */
function promises(text: string, refuse: Refuse): void {
  const count = (pattern: RegExp) => text.match(pattern)?.length ?? 0
  const there = count(
    /"(?:inlineData|fileData|image_url|input_audio|file|input_file|input_image|source)":|"input_file"|"type":"(?:image|audio|video|document)","mime_type"/g,
  )
  if (count(/\(see the attached media\)/g) > there + count(/ was left out: | is empty\)| at (?:gs|https):/g))
    refuse('T100 promises media that are not there')
}

/** Every string is whole Unicode without NUL (T103), and nothing vanishes in JSON. */
function sendable(value: unknown, refuse: Refuse, at = ''): void {
  if (typeof value === 'string') {
    if (/[\uD800-\uDFFF]/u.test(value) || value.includes('\0')) refuse('T103 a string cannot be sent', at)
  } else if (Array.isArray(value)) value.forEach((one, index) => sendable(one, refuse, `${at}/${index}`))
  else if (isObject(value)) {
    for (const [key, inner] of Object.entries(value)) {
      sendable(key, refuse, `${at}, a key`)
      sendable(inner, refuse, `${at}/${key}`)
    }
  } else if (value === undefined || (typeof value === 'number' && !Number.isFinite(value)))
    refuse('a value is lost in JSON', at)
}
