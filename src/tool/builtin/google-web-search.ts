import type { Tool, ToolOutput } from '../define.ts'
import { sourceList, withSources } from '../web/cite.ts'
import type { SearchService } from '../web/search-service.ts'
import type { SideModel } from '../web/side-model.ts'
import text from './google-web-search.md'
import { builtin, failure } from './support/builtin.ts'
import { textIn } from './support/input.ts'

/** Who searches: the model's own vendor, or a service. */
export type Searcher = { readonly model: SideModel } | { readonly service: SearchService }

/** Searches the web. */
export function googleWebSearch(searcher: Searcher): Tool {
  return builtin({
    name: 'google_web_search',
    text,
    kind: 'search',
    nameAliases: [
      { name: 'WebSearch', parameters: {} },
      { name: 'GoogleSearch', parameters: {} },
      { name: 'websearch', parameters: {} },
      { name: 'web_search', parameters: {} },
    ],
    properties: { query: { type: 'string', description: 'What to search for.' } },
    required: ['query'],
    effects: () => [{ kind: 'net', host: 'service' in searcher ? searcher.service.host : 'google.com' }],
    check: (input) => (textIn(input, 'query').trim() === '' ? "The 'query' parameter cannot be empty." : undefined),

    preview: (input) => Promise.resolve({ kind: 'info', title: 'Search the web', prompt: textIn(input, 'query') }),

    async run(input, { host, signal }) {
      const query = textIn(input, 'query')
      if ('model' in searcher) return await byVendor(searcher.model, query, signal)
      if (!host.web) return failure('This host cannot reach the web.', 'no-web')
      const found = await searcher.service.find(query, host.web, signal)
      if ('problem' in found) return failed(query, found.problem)
      const lines = found.map(({ title, text: about }, at) => `${title}: ${about} [${at + 1}]`)
      return results(query, lines.length === 0 ? '' : `${lines.join('\n')}${sourceList(found)}`)
    },
  })
}

async function byVendor(model: SideModel, query: string, signal: AbortSignal): Promise<ToolOutput> {
  const answer = await model.ask(query, ['google_search'], signal)
  if ('problem' in answer) return failed(query, answer.problem)
  return results(query, answer.grounding ? withSources(answer.text, answer.grounding) : answer.text)
}

function results(query: string, found: string): ToolOutput {
  if (found === '') {
    return { content: `No search results or information found for query: "${query}"`, display: 'No information found.' }
  }
  return {
    content: `Web search results for "${query}":\n\n${found}`,
    display: `Search results for "${query}" returned.`,
  }
}

function failed(query: string, problem: string): ToolOutput {
  return failure(`Error: Error during web search for query "${query}": ${problem}`, 'search-failed')
}
