import AlcedoTesting
import Foundation
import TestSupport
import Testing

@testable import alcedo_bench

/// Tests of the lines that a run adds to the thresholds, and of the changes that it prints.
struct BenchThresholdTests {
    private static let figures = [
        BenchFigure("a: time relative to b", 0.5, .atMost(1)), BenchFigure("a: rate relative to b", 3, .atLeast(2)),
        BenchFigure("a: PSNR in dB", 57.5, .atLeast(56)), BenchFigure("a hit", 50, unit: " ns", .atMost(60)),
    ]

    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func thresholds(_ lines: [String]) throws -> BenchThresholds {
        let file = directory.url.appending(path: "thresholds.txt")
        try Data(lines.joined(separator: "\n").utf8).write(to: file)
        return try BenchThresholds(file.path)
    }

    @Test func `lines have a margin of 20 percent or 2.5 decibels, and accept the run that made them`() throws {
        let lines = try thresholds([]).missingLines(of: Self.figures)
        #expect(
            lines == [
                "at most 0.6 | a: time relative to b", "at least 2.5 | a: rate relative to b",
                "at least 55 | a: PSNR in dB",
            ])
        let bounds = try thresholds(lines)
        #expect(bounds.problems(of: Self.figures) == [])
        #expect(bounds.missingLines(of: Self.figures) == [])
    }

    @Test func `changes are relative to the value without the margin, the largest first`() throws {
        let bounds = try thresholds(try thresholds([]).missingLines(of: Self.figures))
        let later = [
            BenchFigure("a: time relative to b", 0.55, .atMost(1)),
            BenchFigure("a: rate relative to b", 6, .atLeast(2)), BenchFigure("a: PSNR in dB", 57.5, .atLeast(56)),
            BenchFigure("a hit", 500, unit: " ns", .atMost(60)),
        ]
        #expect(
            bounds.largestChanges(of: later, count: 2) == [
                "a: rate relative to b: 6, 100 % better than 3", "a: time relative to b: 0.55, 10 % worse than 0.5",
            ])
        #expect(bounds.problems(of: [BenchFigure("a: PSNR in dB", 54.9, .atLeast(56))]).count == 1)
    }
}
