"""Tests of results.py, over result files of a few lines."""

import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import peer
import results

OLD = '# machine: old\nt\trow\tspeed\t\t\t\t0.800\nt\trow\tsize\t100\t90\tbytes\t0.900\n'
NEW = '# machine: new\nt\trow\tspeed\t2000\t1600\tms\t1.250\nt\tother\tspeed\t1\t2\tms\t0.500\n'
ASKED = '# patterns\n*\t*\tsize\t<0.85\n*\tother\t*\t-\n*\t*\t*\t1.3\n'


class Page(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        for name, text in ('2026-01-01-a.tsv', OLD), ('2026-02-01-b.tsv', NEW), ('asked.tsv', ASKED), ('notes.tsv', 'x'):
            with open(os.path.join(self.folder.name, name), 'w') as file:
                file.write(text)

    def tearDown(self):
        self.folder.cleanup()

    def made(self, name):
        text = f'before\n<!-- results: {name} -->\nold\n<!-- end of results -->\nafter\n'
        return results.page(text, self.folder.name)

    def test_a_table_has_the_latest_figures_and_marks_those_behind(self):
        self.assertEqual(
            self.made('t'),
            'before\n<!-- results: t -->\n\n|  | speed: theirs, ours | ratio | size: theirs, ours | ratio |\n|---|---|---|---|---|\n'
            '| row | 2,000, 1,600 ms | 1.25 BEHIND | 100, 90 bytes | 0.900 BEHIND |\n| other | 1, 2 ms | 0.50 |  |  |\n'
            '\nMeasured in `2026-01-01-a`, `2026-02-01-b`.\n\n<!-- end of results -->\nafter\n',
        )

    def test_what_is_behind_is_listed_with_the_furthest_first(self):
        text = self.made('behind')
        self.assertIn('2 of 2 figures are behind', text)
        self.assertIn('| t | row | size | 0.900 | at most 0.85 | 0.94 | 2026-01-01-a |\n| t | row | speed | 1.25 | 1.3 | 0.96 | 2026-02-01-b |\n', text)

    def test_the_page_is_the_same_when_it_is_made_again(self):
        for name in 't', 'behind', 'machines':
            self.assertEqual(results.page(self.made(name), self.folder.name), self.made(name))

    def test_a_table_without_results_is_an_error(self):
        with self.assertRaises(SystemExit):
            self.made('unknown')

    def test_a_command_that_is_repeated_replaces_its_figures(self):
        path = os.path.join(self.folder.name, '2026-03-01-c.tsv')
        with open(path, 'w') as file:
            file.write('# machine: c\nt\trow\tspeed\t1\t2\tms\t0.500\nt\tother\tspeed\t1\t2\tms\t0.500\nt\trow\tspeed\t3\t2\tms\t1.500\n')
        results.tidy(path)
        with open(path) as file:
            self.assertEqual(file.read(), '# machine: c\nt\trow\tspeed\t3\t2\tms\t1.500\nt\tother\tspeed\t1\t2\tms\t0.500\n')

    def test_a_file_without_figures_is_removed(self):
        path = os.path.join(self.folder.name, '2026-03-01-c.tsv')
        with open(path, 'w') as file:
            file.write('# machine: c\n')
        results.tidy(path)
        self.assertFalse(os.path.exists(path))

    def test_more_is_better_of_speeds_and_less_of_times_and_bytes(self):
        path = os.path.join(self.folder.name, '2026-03-01-c.tsv')
        os.environ['PILASTER_RESULTS'] = path
        self.addCleanup(os.environ.pop, 'PILASTER_RESULTS')
        for unit in 'ms', 'bytes', 'GB/s':
            peer.record('t', unit, 'speed', 4, 2, unit)
        ratios = {row: figure.ratio for (_, row, _), figure in results.load(self.folder.name)[1].items() if row in ('ms', 'bytes', 'GB/s')}
        self.assertEqual(ratios, {'ms': 2, 'bytes': 0.5, 'GB/s': 0.5})

    def test_what_is_not_asked_for_is_an_error(self):
        with open(os.path.join(self.folder.name, 'asked.tsv'), 'w') as file:
            file.write('t\trow\t*\t1.0\n')
        with self.assertRaisesRegex(SystemExit, 'other'):
            self.made('behind')


if __name__ == '__main__':
    unittest.main()
