import AlcedoCodecs
import AlcedoCore
import FoundationEssentials

/// Compares the decoded valid file with the results of other decoders.
struct ValidCheck {
    let directory: String
    private let codecs = CodecRegistry.standard
    private let stored = DecodingOptions(appliesOrientation: false)

    init(directory: String) { self.directory = directory }

    /// Returns a list of problems.
    func problems(_ file: Manifest.File, _ data: Data) -> [String] {
        do {
            return try header(file, data) + pixels(file, data) + rows(data) + pieces(data)
        } catch let error as ImageDecodingError {
            return ["\(error.code): \(error)"]
        } catch {
            return ["\(error)"]
        }
    }

    private func header(_ file: Manifest.File, _ data: Data) throws -> [String] {
        let info = try codecs.inspect(data)
        var problems: [String] = []
        func compare<Value: Equatable>(_ name: String, _ ours: Value, _ theirs: Value) {
            if ours != theirs { problems.append("\(name) \(ours), expected \(theirs)") }
        }
        compare("width", info.size.width, file.width ?? -1)
        compare("height", info.size.height, file.height ?? -1)
        compare("frames", info.frameCount, file.frameCount ?? -1)
        compare("loop count", info.loopCount, file.loopCount)
        // Values that EXIF does not define mean the first one.
        let orientation = file.orientation.map { (1...8).contains($0) ? $0 : 1 }
        compare("orientation", info.orientation.rawValue, orientation ?? 1)
        let delays = info.delays.map { $0 / .milliseconds(1) }
        let expected = file.delaysMs ?? []
        if delays.count != expected.count || !zip(delays, expected).allSatisfy({ abs($0 - $1) < 0.01 }) {
            problems.append("delays \(delays), expected \(expected)")
        }
        return problems
    }

    private func pixels(_ file: Manifest.File, _ data: Data) throws -> [String] {
        let image = try codecs.decode(data, options: stored)
        let expected = file.frames ?? []
        let count = image.frames?.frameCount ?? 1
        guard count == expected.count else { return ["\(count) frames decoded, expected \(expected.count)"] }
        var problems: [String] = []
        var isFirst = true
        // From the last to the first too, because seeking must equal playback.
        for index in Array(0..<count) + (1..<max(count, 2)).reversed().prefix(count - 1).filter({ $0 % 7 == 3 }) {
            let pixels = try image.frames?.frame(at: index) ?? image.pixels
            if isFirst, pixels != image.pixels { problems.append("the still image is not the first frame") }
            isFirst = false
            guard try !Digest.of(pixels).matches(expected[index]) else { continue }
            if try !isNear(pixels, index, file) { problems.append("frame \(index) differs") }
        }
        return problems
    }

    /// Returns whether a lossy frame is within the manifest's tolerance for differences between libraries.
    private func isNear(_ pixels: PixelBuffer, _ index: Int, _ file: Manifest.File) throws -> Bool {
        guard let box = file.boxReference, box.grid.count == 2, index < box.frames else { return false }
        let reference = try Data(contentsOf: URL(filePath: "\(directory)/\(box.file)"))
        let cellBytes = 4 * box.grid[0] * box.grid[1]
        guard reference.count >= (index + 1) * cellBytes else { return false }
        let grid = BoxGrid(pixels, columns: box.grid[0], rows: box.grid[1])
        return grid.isNear(reference[index * cellBytes..<(index + 1) * cellBytes], box.tolerance)
    }

    private func rows(_ data: Data) throws -> [String] {
        let digest = Digest()
        try codecs.decodeRows(data, options: stored, into: digest)
        let expected = try Digest.of(codecs.decode(data, options: stored).pixels)
        return digest.sha256 == expected.sha256 ? [] : ["the rows of the stream differ"]
    }

    private func pieces(_ data: Data) throws -> [String] {
        let expected = try codecs.decode(data, options: stored)
        let decoder = codecs.makeIncrementalDecoder(options: stored)
        var start = data.startIndex
        var size = 1
        while start < data.endIndex {
            let end = min(data.endIndex, start + size)
            try decoder.append(data[start..<end])
            start = end
            size = size * 7 % 4093 + 1
        }
        let image = try decoder.finish()
        let isEqual = image.pixels == expected.pixels && image.frames?.frameCount == expected.frames?.frameCount
        return isEqual ? [] : ["bytes in pieces give another image"]
    }
}
