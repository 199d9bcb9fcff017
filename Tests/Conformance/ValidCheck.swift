import AlcedoCodecs
import AlcedoCore
import FoundationEssentials

/// Compares the decoded valid file with the results of other decoders.
struct ValidCheck {
    let directory: String
    private let codecs = CodecRegistry.conformance

    init(directory: String) { self.directory = directory }

    /// Returns a list of problems.
    func problems(_ file: Manifest.File, _ data: Data) -> [String] {
        do {
            let options = file.options
            return try header(file, data) + pixels(file, data, options) + rows(data, options) + pieces(data, options)
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
        let size = file.isUpright ? info.uprightSize : info.size
        // The manifest can lack one side of a drawing.
        let isDrawing = file.renderWidth != nil
        if let width = file.width ?? (isDrawing ? nil : -1) { compare("width", size.width, width) }
        if let height = file.height ?? (isDrawing ? nil : -1) { compare("height", size.height, height) }
        compare("frames", info.frameCount, file.frameCount ?? -1)
        compare("loop count", info.loopCount, file.loopCount)
        // Values that EXIF does not define mean the first one.
        let orientation = file.transformOrientation ?? file.orientation.map { (1...8).contains($0) ? $0 : 1 }
        compare("orientation", info.orientation.rawValue, orientation ?? 1)
        let delays = info.delays.map { $0 / .milliseconds(1) }
        let expected = file.delaysMs ?? []
        if delays.count != expected.count || !zip(delays, expected).allSatisfy({ abs($0 - $1) < 0.01 }) {
            problems.append("delays \(delays), expected \(expected)")
        }
        return problems
    }

    private func pixels(_ file: Manifest.File, _ data: Data, _ options: DecodingOptions) throws -> [String] {
        let image = try codecs.decode(data, options: options)
        let expected = file.frames ?? []
        let count = image.frames?.frameCount ?? 1
        guard count == expected.count else { return ["\(count) frames decoded, expected \(expected.count)"] }
        var problems: [String] = []
        if let color = file.flatRgba, !BoxGrid.isFlat(image.pixels, color) {
            problems.append("a pixel does not have the color \(color)")
        }
        var isFirst = true
        // From the last to the first too, because seeking must equal playback.
        for index in Array(0..<count) + (1..<max(count, 2)).reversed().prefix(count - 1).filter({ $0 % 7 == 3 }) {
            let pixels = try image.frames?.frame(at: index) ?? image.pixels
            if isFirst, pixels != image.pixels { problems.append("the still image is not the first frame") }
            isFirst = false
            guard try !Digest.of(pixels).matches(expected[index]) else { continue }
            // Of some files, only the colors in sRGB are known, which the check of colors compares.
            if expected[index].sha256 == nil, file.boxReference == nil, file.srgbBoxReference != nil { continue }
            // The manifest has means of the first frames only.
            if expected[index].sha256 == nil, let box = file.boxReference, index >= box.frames { continue }
            if try !file.isNear(pixels, file.boxReference, index, in: directory) {
                problems.append("frame \(index) differs")
            }
        }
        return problems
    }

    private func rows(_ data: Data, _ options: DecodingOptions) throws -> [String] {
        let digest = Digest()
        try codecs.decodeRows(data, options: options, into: digest)
        let expected = try Digest.of(codecs.decode(data, options: options).pixels)
        return digest.sha256 == expected.sha256 ? [] : ["the rows of the stream differ"]
    }

    private func pieces(_ data: Data, _ options: DecodingOptions) throws -> [String] {
        let expected = try codecs.decode(data, options: options)
        let decoder = codecs.makeIncrementalDecoder(options: options)
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

extension Manifest.File {
    /// The options for the image that the references show.
    var options: DecodingOptions {
        var options = DecodingOptions(appliesOrientation: isUpright)
        if let renderWidth, let renderHeight { options.target = TargetSize(width: renderWidth, height: renderHeight) }
        return options
    }

    /// Returns whether a frame is within the manifest's tolerance for differences between libraries.
    func isNear(
        _ pixels: PixelBuffer, _ reference: Manifest.BoxReference?, _ index: Int = 0, in directory: String
    ) throws -> Bool {
        guard let reference, let means = try self.means(reference, index, in: directory) else { return false }
        return reference.boxGrid(of: pixels).isNear(means, reference.tolerance)
    }

    /// Returns the means of a frame, or nil when the reference does not have them.
    func means(_ reference: Manifest.BoxReference, _ index: Int = 0, in directory: String) throws -> Data? {
        guard reference.grid.count == 2, index < reference.frames else { return nil }
        let means = try Data(contentsOf: URL(filePath: "\(directory)/\(reference.file)"))
        let cellBytes = 4 * reference.grid[0] * reference.grid[1]
        guard means.count >= (index + 1) * cellBytes else { return nil }
        return means[index * cellBytes..<(index + 1) * cellBytes]
    }
}

extension Manifest.BoxReference {
    /// Returns the means of an image. The grid must have two numbers.
    func boxGrid(of pixels: PixelBuffer) -> BoxGrid {
        BoxGrid(pixels, columns: grid[0], rows: grid[1], isPremultiplied: premultiplied ?? false)
    }
}
