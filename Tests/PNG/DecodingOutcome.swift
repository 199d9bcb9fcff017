import AlcedoCore
import AlcedoPNG
import Foundation

/// The result of decoding, in a form in which those of two decoders can be compared.
enum DecodingOutcome: Equatable {
    case pixels(PixelBuffer)
    case error(ImageDecodingError.Code)

    init(_ decode: () throws -> DecodedImage) throws {
        do {
            self = .pixels(try decode().pixels)
        } catch let error as ImageDecodingError {
            self = .error(error.code)
        }
    }

    /// Decodes a file that arrives in two pieces, for which only libpng and zlib are used.
    init(ofPieces file: Data, _ options: DecodingOptions) throws {
        try self.init {
            let incremental = PNGDecoder().makeIncrementalDecoder(options: options)
            try incremental.append(Data(file.prefix(file.count / 2)))
            try incremental.append(Data(file.dropFirst(file.count / 2)))
            return try incremental.finish()
        }
    }
}
