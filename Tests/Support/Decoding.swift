package import AlcedoCore
package import Foundation
package import Testing

extension ImageDecoding {
    /// Returns the previews while the bytes of a file arrive, and expects the decoded image at the end.
    package func previews(
        of data: Data, inPiecesOf count: Int, _ options: DecodingOptions = DecodingOptions(),
        location: SourceLocation = #_sourceLocation
    ) throws -> [ImagePreview] {
        let pieces = makeIncrementalDecoder(options: options)
        var previews: [ImagePreview] = []
        for start in stride(from: 0, to: data.count, by: count) {
            try pieces.append(Data(data[start..<min(data.count, start + count)]))
            if let preview = try pieces.preview() { previews.append(preview) }
        }
        #expect(try pieces.finish().pixels == decode(data, options: options).pixels, sourceLocation: location)
        return previews
    }

    /// Returns the error of decoding, or nil.
    package func errorCode(
        _ data: Data, limits: DecodingLimits = DecodingLimits()
    ) -> ImageDecodingError.Code? {
        errorCode(data, options: DecodingOptions(limits: limits))
    }

    /// Returns the error of decoding, or nil.
    package func errorCode(_ data: Data, options: DecodingOptions) -> ImageDecodingError.Code? {
        do throws(ImageDecodingError) {
            _ = try decode(data, options: options)
            return nil
        } catch {
            return error.code
        }
    }
}

extension ImageDecoding {
    /// Returns how often a codec of this package parses a file for all that a load asks of it, once for a decode and
    /// once for rows.
    package func parseCounts(_ data: Data) throws -> [Int?] {
        let options = DecodingOptions(target: TargetSize(width: 4, height: 4))
        return try [nil, PixelRowCollector()].map { consumer in
            let reader = try open(data, limits: options.limits)
            _ = reader.header
            _ = try reader.info()
            _ = try reader.decodingByteCount(options, into: consumer)
            if let consumer { try reader.decodeRows(options, into: consumer) } else { _ = try reader.decode(options) }
            return (reader as? any FileReading).map { Self.parseCount($0) }
        }
    }

    private static func parseCount(_ reader: some FileReading) -> Int { reader.file.parseCount }
}

extension Bundle {
    /// Returns a file of the directory `Fixtures` of a test target.
    package func fixture(_ name: String) throws -> Data {
        guard let url = url(forResource: name, withExtension: nil, subdirectory: "Fixtures") else {
            throw CocoaError(.fileNoSuchFile)
        }
        return try Data(contentsOf: url)
    }
}
