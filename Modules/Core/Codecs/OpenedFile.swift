package import FoundationEssentials

/// A reader of a file that its codec parses itself.
package protocol FileReading: ImageReading {
    associatedtype File
    var file: OpenedFile<File> { get }
}

/// A file that a codec has parsed once, kept for the calls of a reader.
///
/// Parsed files and codec libraries refer to the bytes by their address, which `Data` promises only during a call. The
/// file is used at the address at which it was parsed, and parsed again if the bytes have another one, which happens
/// only to data of a few bytes. It is also parsed again for other limits.
package final class OpenedFile<File> {
    package typealias Bytes = UnsafeBufferPointer<UInt8>

    /// The encoded file.
    package let data: Data
    private let format: String
    private let limits: DecodingLimits
    private let parse: (Bytes, DecodingLimits) throws(ImageDecodingError) -> File
    private var parsed: (file: File, limits: DecodingLimits, address: UnsafePointer<UInt8>?)?
    /// The number of times that the file has been parsed.
    package private(set) var parseCount = 0

    /// Parses a file.
    ///
    /// - Parameters:
    ///   - data: The encoded file.
    ///   - format: The name of the format, for the error of empty data.
    ///   - limits: The limits of ``withFile(_:_:)`` without others.
    ///   - parse: A closure that parses the file. Its result may refer to the bytes.
    /// - Throws: ``ImageDecodingError`` `empty`, and the error of `parse`.
    package init(
        _ data: Data, of format: String, limits: DecodingLimits,
        _ parse: @escaping (Bytes, DecodingLimits) throws(ImageDecodingError) -> File
    ) throws(ImageDecodingError) {
        self.data = data
        self.format = format
        self.limits = limits
        self.parse = parse
        try withFile { (_, _) throws(ImageDecodingError) in }
    }

    /// Calls `body` with the file and its bytes, which are valid only inside `body`. Throws the errors of parsing, if
    /// the file must be parsed again, and of `body`.
    ///
    /// - Parameter other: The limits; nil for those of the initializer. Default: nil.
    package func withFile<Result>(
        _ other: DecodingLimits? = nil, _ body: (File, Bytes) throws(ImageDecodingError) -> Result
    ) throws(ImageDecodingError) -> Result {
        try data.withDecoderInput(of: format) { bytes throws(ImageDecodingError) in
            try body(file(bytes, other ?? limits), bytes)
        }
    }

    /// Calls `body` as ``withFile(_:_:)`` does, with a file that is not used again, because decoding changes it.
    package func takeFile<Result>(
        _ other: DecodingLimits? = nil, _ body: (File, Bytes) throws(ImageDecodingError) -> Result
    ) throws(ImageDecodingError) -> Result {
        try withFile(other) { file, bytes throws(ImageDecodingError) in
            parsed = nil
            return try body(file, bytes)
        }
    }

    /// Calls `body`, which passes on rows, as ``withFile(_:_:)`` does. Also throws other errors of `body`.
    package func withFileForRows<Success>(
        _ other: DecodingLimits? = nil, _ body: (File, Bytes) throws -> Success
    ) throws -> Success {
        try withFile(other) { file, bytes throws(ImageDecodingError) in Result { try body(file, bytes) } }.get()
    }

    /// Calls `body`, which passes on rows, as ``takeFile(_:_:)`` does. Also throws other errors of `body`.
    package func takeFileForRows<Success>(
        _ other: DecodingLimits? = nil, _ body: (File, Bytes) throws -> Success
    ) throws -> Success {
        try withFileForRows(other) { file, bytes in
            parsed = nil
            return try body(file, bytes)
        }
    }

    private func file(_ bytes: Bytes, _ limits: DecodingLimits) throws(ImageDecodingError) -> File {
        if let parsed, parsed.address == bytes.baseAddress, parsed.limits == limits { return parsed.file }
        parsed = nil
        parseCount += 1
        let file = try parse(bytes, limits)
        parsed = (file, limits, bytes.baseAddress)
        return file
    }
}
