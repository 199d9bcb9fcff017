// What `import Alcedo` brings: the modules that users of the default stack call.
//
// HTTP messages do not come along, because other packages own names such as HTTPRequest. Of AlcedoHTTP two values come,
// whose names are no other package's. With them come the members of all its types, so that
// `response.httpResponse?.status` and `request.modifyRequest = { $0.fields["Accept"] = "image/webp" }` need no further
// import. AlcedoTerminal and AlcedoGTK are modules of their own.

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
