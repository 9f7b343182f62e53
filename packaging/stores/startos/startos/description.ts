export const description = {
  "id": "papertick",
  "title": "papertick",
  "license": "@license@",
  "repository": "@repository@",
  "website": "@website@",
  "version": "@version@:0",
  "image": "@image@:@version@",
  "port": 8080,
  "environment": {
    "PAPERTICK_LISTEN": "0.0.0.0:8080",
    "PAPERTICK_DATA_DIR": "/data",
    "PAPERTICK_MANAGED_BY": "StartOS"
  },
  "short": {
    "en_US": "@tagline_en@",
    "de_DE": "@tagline_de@"
  },
  "long": {
    "en_US": "@description_en@",
    "de_DE": "@description_de@"
  }
} as const
