import { addressOf, headersOf } from '../address.ts'
import { connectionFault } from '../trouble.ts'
import type { Target } from '../target.ts'
import type { Post } from '../transport.ts'
import { fetchJson } from './fetch-json.ts'

/** What an endpoint says to a key: it takes it, it refuses it, or it cannot be asked. */
export type Verdict = { readonly ok: true } | { readonly ok: false; readonly refused: boolean; readonly why: string }

/** Tries a key at an endpoint with a request that costs nothing: the list of models, or whatever the row names. */
export async function checkKey(target: Target, post: Post): Promise<Verdict> {
  const url = placeToAsk(target)
  const { headers } = await headersOf(target, false)
  try {
    const { status } = await fetchJson(post, { url, method: 'GET', headers, body: [] })
    if (status < 300) return { ok: true }
    const refused = status === 401 || status === 403 || (status === 400 && target.wire === 'gemini')
    const why = refused ? `${target.row.id} refuses it (${status})` : `${target.row.id} answered ${status}`
    return { ok: false, refused, why }
  } catch (error) {
    return { ok: false, refused: false, why: connectionFault(error, target, url).message }
  }
}

/** Beside the place where questions go, every wire has one where its models are listed. */
function placeToAsk(target: Target): URL {
  const { row, wire } = target
  const usual = addressOf(target, false)
  if (row.check !== undefined) return new URL(`${target.baseUrl}${row.check}`)
  if (wire === 'gemini' && row.path === 'vertex') usual.pathname = usual.pathname.replace(/\/models\/[^/]*$/, '/models')
  else if (wire === 'gemini') usual.pathname = usual.pathname.replace(/\/(?:models|tunedModels)\/.*$/, '/models')
  else usual.pathname = usual.pathname.replace(/\/(?:chat\/completions|responses|messages)$/, '/models')
  if (wire === 'gemini') usual.search = '?pageSize=1'
  return usual
}
