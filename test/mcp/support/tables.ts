import type { JsonObject } from '../../../src/model/json.ts'

/** A tool, what it is called with, and what must be in its answer. A tool may come more than once. */
export type Row = readonly [tool: string, args: JsonObject, says: RegExp]

/** Every tool of server-everything, where nobody is there to answer its questions. */
export const everythingCalls: readonly Row[] = [
  ['echo', { message: 'a word' }, /^Echo: a word$/],
  ['get-annotated-message', { messageType: 'success', includeImage: true }, /<image\/png>/],
  ['get-env', {}, /"PATH"/],
  ['get-resource-links', { count: 2 }, /Resource Link: .* at demo:/],
  ['get-resource-reference', { resourceType: 'Text', resourceId: 1 }, /Resource 1/],
  ['get-structured-content', { location: 'Chicago' }, /conditions/],
  ['get-sum', { a: 19, b: 23 }, /42/],
  ['get-tiny-image', {}, /<image\/png>/],
  [
    'gzip-file-as-resource',
    { name: 'a.gz', data: 'data:text/plain,hi', outputType: 'resource' },
    /<application\/gzip>/,
  ],
  ['toggle-simulated-logging', {}, /logging/i],
  ['toggle-subscriber-updates', {}, /updates/i],
  ['trigger-long-running-operation', { duration: 0.2, steps: 2 }, /completed/i],
  ['get-roots-list', {}, /work-/],
  ['trigger-elicitation-request', {}, /declined/i],
  ['trigger-url-elicitation', { url: 'https://example.com/form' }, /declined/i],
  ['trigger-sampling-request', { prompt: 'hello' }, /There is no user to allow it/],
  ['simulate-research-query', { topic: 'herons' }, /Research Report: herons/],
]

/** Every tool of server-filesystem, on files in a folder. */
export function filesystemCalls(folder: string): readonly Row[] {
  const at = (name: string): string => `${folder}/${name}`
  return [
    ['write_file', { path: at('a.txt'), content: 'one\ntwo\n' }, /success/i],
    ['read_file', { path: at('a.txt') }, /one\ntwo/],
    ['read_text_file', { path: at('a.txt'), head: 1 }, /^one$/m],
    ['read_media_file', { path: at('dot.png') }, /<image\/png>/],
    ['read_multiple_files', { paths: [at('a.txt')] }, /two/],
    ['edit_file', { path: at('a.txt'), edits: [{ oldText: 'two', newText: 'three' }] }, /\+three/],
    ['create_directory', { path: at('inner') }, /success/i],
    ['move_file', { source: at('a.txt'), destination: at('inner/b.txt') }, /success/i],
    ['list_directory', { path: folder }, /\[DIR\] inner/],
    ['list_directory_with_sizes', { path: at('inner') }, /b\.txt/],
    ['directory_tree', { path: folder }, /"b\.txt"/],
    ['search_files', { path: folder, pattern: '**/*.txt' }, /b\.txt/],
    ['get_file_info', { path: at('inner/b.txt') }, /isFile: true/],
    ['list_allowed_directories', {}, /work-/],
  ]
}

const HERON = { name: 'heron', entityType: 'bird', observations: ['grey'] }
const EATS = { from: 'heron', to: 'frog', relationType: 'eats' }

/** Every tool of server-memory. */
export const memoryCalls: readonly Row[] = [
  ['create_entities', { entities: [HERON, { ...HERON, name: 'frog' }] }, /heron/],
  ['create_relations', { relations: [EATS] }, /eats/],
  ['add_observations', { observations: [{ entityName: 'heron', contents: ['patient'] }] }, /patient/],
  ['read_graph', {}, /"eats"/],
  ['search_nodes', { query: 'patient' }, /heron/],
  ['open_nodes', { names: ['frog'] }, /frog/],
  ['delete_observations', { deletions: [{ entityName: 'heron', observations: ['grey'] }] }, /success/i],
  ['delete_relations', { relations: [EATS] }, /success/i],
  ['delete_entities', { entityNames: ['frog'] }, /success/i],
]

/** A page with something for every tool of a browser. */
export const PAGE = `<!doctype html><title>Herons</title><h1>Herons</h1>
<button id=count onclick="this.textContent=Number(this.textContent)+1;console.log('counted')">0</button>
<button id=ask onclick="this.textContent=String(confirm('Sure?'))">ask</button>
<input id=name aria-label=name><input id=file type=file><select id=bird><option>heron<option>stork</select>
<div id=here draggable=true>drag me</div><div id=there ondragover="event.preventDefault()"
 ondrop="event.preventDefault();this.textContent='dropped '+(event.dataTransfer.getData('text/plain')||'it')">there</div>`

/** Every tool of the browser, on that page. */
export function browserCalls(url: string, file: string): readonly Row[] {
  return [
    ['browser_navigate', { url }, /Herons/],
    ['browser_resize', { width: 800, height: 600 }, /./],
    ['browser_emulate_media', { colorScheme: 'dark' }, /./],
    ['browser_snapshot', {}, /heading "Herons"/],
    ['browser_find', { text: 'drag me' }, /drag me/],
    ['browser_click', { target: '#count' }, /./],
    ['browser_evaluate', { function: '() => document.querySelector("#count").textContent' }, /"1"/],
    ['browser_console_messages', { level: 'info' }, /counted/],
    ['browser_hover', { target: '#name' }, /./],
    ['browser_type', { target: '#name', text: 'grey' }, /./],
    ['browser_press_key', { key: 'End' }, /./],
    ['browser_fill_form', { fields: [{ target: '#name', name: 'name', type: 'textbox', value: 'blue' }] }, /./],
    ['browser_select_option', { target: '#bird', values: ['stork'] }, /./],
    ['browser_evaluate', { function: '() => name.value + bird.value' }, /stork/],
    ['browser_click', { target: '#file' }, /./],
    ['browser_file_upload', { paths: [file] }, /./],
    ['browser_drag', { startTarget: '#here', endTarget: '#there' }, /./],
    ['browser_drop', { target: '#there', data: { 'text/plain': 'a frog' } }, /./],
    ['browser_wait_for', { text: 'dropped a frog' }, /./],
    ['browser_click', { target: '#ask' }, /dialog/i],
    ['browser_handle_dialog', { accept: true }, /./],
    ['browser_take_screenshot', { scale: 'css' }, /<image\/(?:png|jpeg)>/],
    ['browser_network_requests', { static: true }, /GET/],
    ['browser_network_request', { index: 1 }, /200/],
    ['browser_run_code_unsafe', { code: 'async (page) => page.title()' }, /Herons/],
    ['browser_navigate', { url: `${url}?again` }, /again/],
    ['browser_navigate_back', {}, /./],
    ['browser_tabs', { action: 'list' }, /Herons/],
    ['browser_close', {}, /./],
  ]
}
