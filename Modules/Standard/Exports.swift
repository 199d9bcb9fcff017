// `import Alcedo` imports the modules that users of the default stack call.
//
// HTTP messages are not exported, because other packages have types with names such as HTTPRequest. Only two types of
// AlcedoHTTP are exported, whose names are unique to this package. The members of all types of AlcedoHTTP are then
// visible, so `response.httpResponse?.status` and `request.modifyRequest = { $0.fields["Accept"] = "image/webp" }` need
// no further import. AlcedoTerminal and AlcedoGTK must be imported separately.

@_exported public import AlcedoCURL
@_exported public import AlcedoCodecs
@_exported public import AlcedoCore
@_exported public import AlcedoDiskCache
@_exported public import AlcedoDownloader
@_exported public import enum AlcedoHTTP.HTTPCachePolicy
@_exported public import struct AlcedoHTTP.HTTPTransferMetrics
@_exported public import AlcedoMemoryCache
@_exported public import AlcedoPipeline
@_exported public import AlcedoProcessing
@_exported public import AlcedoURLResponseCache
@_exported public import AlcedoViewBinding
