import { isObject } from '../../model/json.ts'
import type { Grounding } from '../../model/grounding.ts'

/** What a candidate says of its sources; later pieces of an answer say it more fully than earlier ones. */
export function grounding(candidate: Record<string, unknown>, before?: Grounding): Grounding | undefined {
  const metadata = isObject(candidate['groundingMetadata']) ? candidate['groundingMetadata'] : {}
  const context = isObject(candidate['urlContextMetadata']) ? candidate['urlContextMetadata'] : {}
  const found: Grounding = {
    sources: objects(metadata['groundingChunks']).map(source),
    supports: objects(metadata['groundingSupports']).flatMap(support),
    pages: objects(context['urlMetadata'] ?? context['url_metadata']).map(page),
  }
  const merged: Grounding = {
    sources: found.sources.length > 0 ? found.sources : (before?.sources ?? []),
    supports: found.supports.length > 0 ? found.supports : (before?.supports ?? []),
    pages: found.pages.length > 0 ? found.pages : (before?.pages ?? []),
  }
  return merged.sources.length + merged.pages.length > 0 ? merged : undefined
}

/** A chunk that is no page keeps its place: supports name chunks by number. */
function source(chunk: Record<string, unknown>): Grounding['sources'][number] {
  const web = [chunk['web'], chunk['retrievedContext']].find(isObject) ?? {}
  return { title: words(web['title']), url: words(web['uri']) }
}

function support(given: Record<string, unknown>): Grounding['supports'] {
  const segment = isObject(given['segment']) ? given['segment'] : {}
  const listed = given['groundingChunkIndices']
  const sources = Array.isArray(listed) ? listed.filter((one): one is number => Number.isInteger(one) && one >= 0) : []
  if (sources.length === 0) return []
  return [
    { start: count(segment['startIndex']), end: count(segment['endIndex']), text: words(segment['text']), sources },
  ]
}

function page(given: Record<string, unknown>): Grounding['pages'][number] {
  const status = words(given['urlRetrievalStatus'] ?? given['url_retrieval_status'])
  return { url: words(given['retrievedUrl'] ?? given['retrieved_url']), read: status.endsWith('SUCCESS') }
}

function objects(given: unknown): Record<string, unknown>[] {
  return Array.isArray(given) ? given.map((one) => (isObject(one) ? one : {})) : []
}

function words(given: unknown): string {
  return typeof given === 'string' ? given : ''
}

function count(given: unknown): number {
  return typeof given === 'number' && Number.isInteger(given) && given >= 0 ? given : 0
}
