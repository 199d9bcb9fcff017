/// The times of several ways to do the same work with files, which take turns.
struct AlternatingRuns {
    /// A way to do the work with a file. Returns the time that it took.
    struct Contender {
        let name: String
        let run: (String) async throws -> ThumbnailTime

        init(_ name: String, _ run: @escaping (String) async throws -> ThumbnailTime) {
            (self.name, self.run) = (name, run)
        }
    }

    /// The times of each contender, one for each round: the sums of all files.
    private var times: [String: [ThumbnailTime]] = [:]
    private let fileCount: Int

    /// Runs each contender with each file in each round.
    init(_ paths: [String], rounds: Int, _ contenders: [Contender]) async throws {
        fileCount = paths.count
        // The additional first round warms up and is not counted.
        for round in 0...rounds {
            var sums = Array(repeating: ThumbnailTime(), count: contenders.count)
            for path in paths {
                // The order rotates, so that no contender always finds the file in the page cache.
                for pass in contenders.indices {
                    let index = (pass + round) % contenders.count
                    sums[index] = sums[index] + (try await contenders[index].run(path))
                }
            }
            guard round > 0 else { continue }
            for (contender, sum) in zip(contenders, sums) { times[contender.name, default: []].append(sum) }
        }
    }

    /// Returns the median time of a file, or nil if there is no contender of this name.
    func median(_ name: String, _ part: KeyPath<ThumbnailTime, Double> = \.wall) -> Double? {
        DownloadSpeed.median((times[name] ?? []).map { $0[keyPath: part] / Double(fileCount) })
    }

    /// Returns the ratio of two medians, or nil without one of them. The second is that of the fastest of `others`.
    func ratio(
        _ name: String, to others: [String], _ part: KeyPath<ThumbnailTime, Double> = \.wall
    ) -> Double? {
        let fastest = others.compactMap { median($0, part) }.min()
        return median(name, part).flatMap { own in fastest.map { own / $0 } }
    }

    /// Returns a time or a ratio with two digits, or a dash.
    static func text(_ value: Double?) -> String { value.map { "\(($0 * 100).rounded() / 100)" } ?? "-" }
}
