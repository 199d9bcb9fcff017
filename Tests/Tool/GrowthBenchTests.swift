import AlcedoTesting
import Foundation
import TestSupport
import Testing

@testable import alcedo_bench

/// Tests of the arithmetic and of the plot of `alcedo-bench growth`.
@Suite struct GrowthSeriesTests {
    private static let sizes = [10, 100, 1_000, 10_000]

    private func series(
        _ quantity: GrowthSeries.Quantity = .total, sizes: [Int] = Self.sizes, _ seconds: (Double) -> Double
    ) -> GrowthSeries {
        GrowthSeries(
            name: "a series", quantity: quantity,
            points: sizes.map { .init(size: $0, seconds: seconds(Double($0)), bytes: 1_000 + 24 * $0) })
    }

    @Test func `the exponent is a figure of the report, with the limit as its goal`() throws {
        let total = try #require(series { 2e-6 * $0 * $0 }.figure)
        #expect(total.name == "growth of the time, a series")
        #expect([total.shownValue, total.shownLimit] == ["2 (total)", "at most 1.15 (total)"])
        #expect(!total.isMet)
        let constant = try #require(series(.lookup) { _ in 4e-8 }.figure)
        #expect([constant.shownValue, constant.shownLimit] == ["0.01 (look-up)", "at most 0.15 (look-up)"])
        #expect(constant.isMet)
        #expect(series(sizes: [10]) { $0 }.figure == nil)
    }

    @Test(arguments: [0.0, 0.5, 1, 2])
    func `the exponent of a power is its exponent, whatever the factor`(exponent: Double) throws {
        for factor in [1e-9, 3, 1e6] {
            let found = try #require(series { factor * pow($0, exponent) }.exponent)

            #expect(abs(found - exponent) < 1e-9)
        }
    }

    @Test func `the exponent is the slope of the least squares`() throws {
        // The logarithms to base ten are 0, 0 and 3 at 1, 2 and 3, whose line has the slope 1.5.
        let found = series(sizes: [10, 100, 1_000]) { $0 < 1_000 ? 1 : 1_000 }

        #expect(abs(try #require(found.exponent) - 1.5) < 1e-9)
        #expect(abs(try #require(found.lastExponent) - 3) < 1e-9)
    }

    @Test func `one size, or times that are zero, have no exponent`() {
        #expect(series(sizes: []) { $0 }.exponent == nil)
        #expect(series(sizes: [10]) { $0 }.exponent == nil)
        #expect(series(sizes: [10, 10]) { $0 }.exponent == nil)
        #expect(series { _ in 0 }.exponent == nil)
    }

    @Test func `a total above linear and a lookup above constant are flagged`() {
        #expect(!series { pow($0, 1.1) }.isFlagged)
        #expect(series { pow($0, 1.2) }.isFlagged)
        #expect(!series(.lookup) { pow($0, 0.1) }.isFlagged)
        #expect(series(.lookup) { pow($0, 0.2) }.isFlagged)
        #expect(!series(sizes: [10]) { $0 }.isFlagged)
    }

    @Test func `a row of the table has both times, the exponents and the memory of each item`() {
        let total = GrowthTable(series: [series { 2e-6 * $0 * $0 }]).markdown.split(separator: "\n")
        #expect(total.count == 3)
        #expect(
            total[2] == "| a series | 10 to 10,000 | 20.0 µs to 20.0 ms | 2.0 (total) | 2.0 | 235 KiB | 24.0 B "
                + "| above 1.15 |")

        let lookup = GrowthTable(series: [series(.lookup, sizes: [10]) { _ in 4.05e-8 }]).markdown
        #expect(lookup.hasSuffix("\n| a series | 10 | 40.5 ns |  |  | 1.21 KiB |  |  |\n"))
    }

    @Test func `a horizontal line of the plot is linear time, and names are escaped`() throws {
        var linear = series { 1e-6 * $0 }
        linear.points.append(.init(size: 100_000, seconds: 0, bytes: 0))
        let named = GrowthSeries(name: "a < b & c", quantity: .lookup, points: [.init(size: 10, seconds: 1, bytes: 0)])
        let empty = GrowthSeries(name: "nothing", quantity: .total, points: [])

        let svg = GrowthPlot(series: [linear, named, empty]).svg

        let list = try #require(svg.firstMatch(of: /<polyline points="([^"]*)"/)).1
        let rows = list.split(separator: " ").compactMap { $0.split(separator: ",").last }
        #expect(rows.count == 4)
        #expect(Set(rows).count == 1)
        #expect(svg.components(separatedBy: "<polyline").count == 3)
        #expect(svg.contains(">a series, exponent 1.0</text>"))
        #expect(svg.contains(">a &lt; b &amp; c</text>"))
        #expect(!svg.contains("nothing"))
        #expect(svg.hasPrefix("<svg "))
        #expect(svg.hasSuffix("</svg>\n"))
    }

    @Test func `the time of the next size is expected to grow with the size, or as it did before`() {
        func expected(_ size: Int, _ seconds: [Double]) -> Duration {
            GrowthBenchCommand.expectedTime(
                size, after: zip(Self.sizes, seconds).map { (size: $0, time: .seconds($1), bytes: 0) })
        }

        #expect(expected(10, []) == .zero)
        #expect(expected(100, [2]) == .seconds(2))
        // A constant time, a linear and a quadratic one in addition, and one that has fallen by chance.
        #expect(expected(1_000, [2, 2]) == .seconds(2))
        #expect(expected(1_000, [2, 3]) == .seconds(13))
        #expect(expected(10_000, [2, 3, 103]) == .seconds(10_103))
        #expect(expected(1_000, [3, 2]) == .seconds(2))
    }

    @Test func `the memory of the next size is expected to grow with the size`() {
        #expect(GrowthBenchCommand.expectedByteCount(10, after: []) == 0)
        #expect(GrowthBenchCommand.expectedByteCount(1_000, after: [(100, .seconds(1), 5)]) == 50)
    }
}

/// Tests of the command, which measures in processes of its own.
@Suite(.spawnsProcesses, .timeLimit(.minutes(10)))
struct GrowthBenchTests {
    private let directory: TemporaryDirectory
    private let bench = Program(name: "alcedo-bench")

    init() throws { directory = try TemporaryDirectory() }

    @Test func `every group prints its series, draws them and leaves no files`() async throws {
        let plot = directory.url.appending(path: "growth.svg")
        let scratch = directory.url.appending(path: "scratch")
        let words = [
            "growth", "--directory", scratch.path, "--maximum", "10000", "--limit", "0.001", "--markdown", "--svg",
            plot.path,
        ]

        let outcome = try await bench.run(words)

        #expect(outcome.status == 0)
        let lines = outcome.output.split(separator: "\n")
        #expect(lines.first?.hasPrefix("| Series | n |") == true)
        let names = lines.dropFirst(2).map { $0.split(separator: "|").first?.trimmingCharacters(in: .whitespaces) }
        // The limit permits only the first size of each group.
        #expect(lines.dropFirst(2).allSatisfy { !$0.contains(" to ") })
        for name in [
            "memory cache of n entries, get", "disk cache of n entries, opening", "disk entry of n bytes, store",
            "n variants of one URL, in flight", "n requests in flight", "n waiters for one image",
            "n hosts, a request each", "GIF of n frames, decode", "PNG of n pixels, decode",
            "chain of n processors, load", "files of a directory, alcedo inspect",
        ] {
            #expect(names.contains(name), "\(name)")
        }
        let svg = try String(contentsOf: plot, encoding: .utf8)
        #expect(svg.components(separatedBy: "<polyline").count == names.count + 1)
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path).isEmpty)

        let rejected = try await bench.run(words)
        #expect(rejected.status == 1)
        #expect(rejected.problems.contains("use --force to replace it"))
    }

    @Test func `a series has the sizes up to the maximum`() async throws {
        let outcome = try await bench.run([
            "growth", "--directory", directory.path, "--maximum", "1000", "--only", "memory cache",
        ])

        #expect(outcome.status == 0)
        #expect(outcome.problems == "")
        #expect(outcome.output.contains("memory cache of n entries, get, n = 100: "))
        #expect(outcome.output.contains("\n| memory cache of n entries, store | 10 to 1,000 | "))
        #expect(!outcome.output.contains("n = 10000"))
    }

    @Test(arguments: [["--only", "nothing"], ["--maximum", "9"], ["--limit", "0"], ["--svg"], ["extra"]])
    func `an invalid command line is a usage error`(words: [String]) async throws {
        #expect(try await bench.run(["growth"] + words).status == 2)
    }
}
