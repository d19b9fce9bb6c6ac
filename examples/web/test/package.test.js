// The published package: modules that any runtime can load, and every required file.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

test('the modules import nothing', () => {
  const { files } = JSON.parse(readFileSync(`${root}/package.json`, 'utf8'))
  const modules = files.filter((path) => path.endsWith('.wasm'))
  assert.equal(modules.length, 8)
  for (const name of modules) {
    const module = new WebAssembly.Module(readFileSync(`${root}/${name}`))
    assert.deepEqual(WebAssembly.Module.imports(module), [], name)
    assert.ok(WebAssembly.Module.exports(module).some(({ name }) => name === 'input'))
  }
})

test('npm packs all exported files', () => {
  const packed = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  const files = JSON.parse(packed)[0].files.map(({ path }) => path)
  const { exports, license } = JSON.parse(readFileSync(`${root}/package.json`, 'utf8'))
  const named = Object.values(exports).flatMap((to) => (typeof to === 'string' ? [to] : Object.values(to)))
  for (const path of [...named, './README.md', './LICENSE-MIT', './LICENSE-APACHE', './lib/write.js']) {
    assert.ok(files.includes(path.slice(2)), path)
  }
  assert.equal(license, 'MIT OR Apache-2.0')
  assert.ok(!files.some((path) => path.startsWith('test/')))
})
