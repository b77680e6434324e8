import type { Tool, ToolOutput } from '../tool.ts'
import { formatSourceList, addCitations } from '../web/citations.ts'
import type { WebSearchService } from '../web/web-search-service.ts'
import type { AuxiliaryModel } from '../auxiliary-model.ts'
import text from './google-web-search.md'
import { createErrorOutput } from '../error-output.ts'
import { defineBuiltin, createSameToolAliases } from './support/define-builtin.ts'
import { getTextArgument } from './support/read-arguments.ts'

export type SearchBackend = { readonly model: AuxiliaryModel } | { readonly service: WebSearchService }

export function createWebSearchTool(backend: SearchBackend): Tool {
  return defineBuiltin({
    name: 'google_web_search',
    text,
    kind: 'search',
    safeToRetry: true,
    hookName: 'WebSearch',
    ruleAliases: ['WebSearchTool'],
    nameAliases: createSameToolAliases('WebSearch', 'GoogleSearch', 'websearch', 'web_search'),
    properties: { query: { type: 'string', description: 'What to search for.' } },
    required: ['query'],
    effects: () => [{ kind: 'net', host: 'service' in backend ? backend.service.host : 'google.com' }],
    check: (input) =>
      getTextArgument(input, 'query').trim() === '' ? "The 'query' parameter cannot be empty." : undefined,

    preview: (input) =>
      Promise.resolve({ kind: 'info', title: 'Search the web', prompt: getTextArgument(input, 'query') }),

    async run(input, { host, signal }) {
      const query = getTextArgument(input, 'query')
      if ('model' in backend) return await searchByVendor(backend.model, query, signal)
      if (!host.web) return createErrorOutput('This host cannot reach the web.', 'no-web')
      const found = await backend.service.find(query, host.web, signal)
      if ('problem' in found) return createSearchFailure(query, found.problem)
      const lines = found.map(({ title, text: about }, at) => `${title}: ${about} [${at + 1}]`)
      return formatResults(query, lines.length === 0 ? '' : `${lines.join('\n')}${formatSourceList(found)}`)
    },
  })
}

async function searchByVendor(model: AuxiliaryModel, query: string, signal: AbortSignal): Promise<ToolOutput> {
  const answer = await model.query(query, ['google_search'], signal)
  if ('problem' in answer) return createSearchFailure(query, answer.problem)
  return formatResults(query, answer.grounding ? addCitations(answer.text, answer.grounding) : answer.text)
}

function formatResults(query: string, found: string): ToolOutput {
  if (found === '') {
    return { content: `No search results or information found for query: "${query}"`, display: 'No information found.' }
  }
  return {
    content: `Web search results for "${query}":\n\n${found}`,
    display: `Search results for "${query}" returned.`,
  }
}

function createSearchFailure(query: string, problem: string): ToolOutput {
  return createErrorOutput(`Error: Error during web search for query "${query}": ${problem}`, 'search-failed')
}
